import { Badge, Button, Group, Paper, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { useState } from 'react'
import { get, remove } from '../../api/request.ts'
import type { ApiKey, List, NewApiKey } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'
import { CopyBlock, OneTimeSecrets } from '../../components/copy.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconKey, IconPlus } from '../../components/icons.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { Page } from '../../components/page.tsx'
import { Pager, rowsOfPage } from '../../components/pager.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { useUser } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { dateTime } from '../../lib/time.ts'
import { NewKey } from './new-key.tsx'

const size = 25

const curl = (apiKey: NewApiKey): string =>
  [
    `curl ${window.location.origin}/api/v1/oauth/token \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '{"grant_type":"client_credentials","client_id":"${apiKey.jti}","client_secret":"${apiKey.key}"}'`,
  ].join('\n')

export function KeysPage() {
  return (
    <AdminOnly title="API keys">
      <Keys />
    </AdminOnly>
  )
}

function Expiry({ at }: { at: string | null }) {
  if (at !== null && Date.parse(at) < Date.now()) return <Badge color="red">expired</Badge>
  return (
    <Text span inherit>
      {at === null ? 'never' : dateTime(at)}
    </Text>
  )
}

function Keys() {
  const { org } = useUser()
  const queries = useQueryClient()
  const { page = 1 } = useSearch({ from: '/shell/settings/api-keys' })
  const navigate = useNavigate({ from: '/settings/api-keys' })
  const [isCreating, setCreating] = useState(false)
  const [createdKey, setCreatedKey] = useState<NewApiKey | null>(null)
  const [keyToRevoke, setKeyToRevoke] = useState<ApiKey | null>(null)
  const request = { limit: size, offset: (page - 1) * size }
  const keys = useQuery({
    queryKey: ['api-keys', request],
    queryFn: ({ signal }) => get<List<ApiKey>>(`/orgs/${org.id}/api-keys`, request, signal),
  })
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ['api-keys'] })
  const columns: ColumnDef<ApiKey>[] = [
    {
      id: 'name',
      header: 'Name',
      cell: ({ row: { original } }) => (
        <>
          <Text size="sm" fw={550}>
            {original.name}
          </Text>
          <Text size="xs" c="dimmed" className="key">
            {original.jti}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {original.scopes.join(', ')}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="md" component="div">
            <Text span inherit hiddenFrom="sm">
              Last used: <RelativeTime at={original.last_used_at} />.{' '}
            </Text>
            Expires: <Expiry at={original.expires_at} />
          </Text>
        </>
      ),
    },
    {
      id: 'scopes',
      header: 'Scopes',
      meta: { from: 'sm' },
      cell: ({ row: { original } }) => (
        <Group gap={4}>
          {original.scopes.map((scope) => (
            <Badge key={scope} color="gray" size="sm">
              {scope}
            </Badge>
          ))}
        </Group>
      ),
    },
    {
      id: 'used',
      header: 'Last used',
      meta: { from: 'sm' },
      cell: ({ row: { original } }) => <RelativeTime at={original.last_used_at} />,
    },
    {
      id: 'expires',
      header: 'Expires',
      meta: { from: 'md' },
      cell: ({ row: { original } }) => <Expiry at={original.expires_at} />,
    },
    {
      id: 'act',
      header: '',
      meta: { align: 'right' },
      cell: ({ row: { original } }) => (
        <Button
          size="compact-sm"
          variant="subtle"
          color="red"
          aria-label={`Revoke ${original.name}`}
          onClick={() => setKeyToRevoke(original)}
        >
          Revoke
        </Button>
      ),
    },
  ]
  return (
    <Page
      kind="form"
      title="API keys"
      lead={`Credentials for programs that use the API of ${org.name}. Scopes and expiry cannot be changed after creation.`}
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      {keys.isError ? (
        <ErrorAlert error={keys.error} onRetry={() => void keys.refetch()} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="API keys"
            columns={columns}
            rows={rowsOfPage(keys.data)}
            rowKey={(one) => String(one.id)}
            empty={
              <EmptyState icon={<IconKey size={24} />} title="No keys yet">
                A key is a client ID and a secret. A program exchanges them for an access token that is valid for 15
                minutes.
              </EmptyState>
            }
          />
        </Paper>
      )}
      <Pager
        page={page}
        size={size}
        total={keys.data?.total_count ?? 0}
        rows={keys.data?.data.length ?? 0}
        onPage={(next) => void navigate({ search: next === 1 ? {} : { page: next } })}
        what="keys"
      />
      {isCreating && (
        <NewKey
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false)
            setCreatedKey(key)
            refresh()
          }}
        />
      )}
      <GuardedModal
        guards="secret"
        opened={createdKey !== null}
        onClose={() => setCreatedKey(null)}
        title={createdKey?.name}
        size="lg"
      >
        {createdKey !== null && (
          <OneTimeSecrets
            values={[
              { label: 'Client ID', value: createdKey.jti },
              { label: 'Client secret', value: createdKey.key },
            ]}
            onDone={() => setCreatedKey(null)}
          >
            <Text size="sm">Exchange them for an access token:</Text>
            <CopyBlock text={curl(createdKey)} label="the command" />
          </OneTimeSecrets>
        )}
      </GuardedModal>
      <Confirm
        opened={keyToRevoke !== null}
        title={`Revoke ${keyToRevoke?.name ?? ''}?`}
        verb="Revoke key"
        onClose={() => setKeyToRevoke(null)}
        onConfirm={async () => {
          await remove(`/orgs/${org.id}/api-keys/${String(keyToRevoke?.id)}`)
          notify('The key was revoked.')
          refresh()
        }}
      >
        Programs that use this key are rejected immediately. This cannot be undone.
      </Confirm>
    </Page>
  )
}

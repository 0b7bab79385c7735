import { Button, Group, PasswordInput, Stack, Table, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { changePassword, signOutEverywhere } from '../../api/auth.ts'
import { getOne } from '../../api/request.ts'
import type { Quota } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Card, Fact, Page } from '../../components/page.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useUser } from '../../components/use-session.ts'
import { download } from '../../lib/download.ts'
import { newPasswordRule, required, showFieldErrors } from '../../lib/forms.ts'
import { roleDescriptions, roleLabel } from '../../lib/roles.ts'
import { formatNumber, timeZone } from '../../lib/time.ts'

function Password() {
  const { email } = useUser()
  const form = useForm({
    initialValues: { current_password: '', new_password: '' },
    validate: { current_password: required('The current password'), new_password: newPasswordRule },
  })
  const action = useMutation({
    mutationFn: () => changePassword(form.getValues()),
    onSuccess: () => {
      form.reset()
      notify('Password changed. Your other sessions have ended.')
    },
    onError: (error) => showFieldErrors(form, error),
  })
  return (
    <Card title="Password">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm" maw={380}>
          <input type="text" autoComplete="username" value={email} readOnly hidden />
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            {...form.getInputProps('current_password')}
          />
          <PasswordInput
            label="New password"
            description="At least 10 characters"
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group>
            <Button type="submit" loading={action.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

const quotaLabels: Record<string, string> = {
  assets: 'Assets',
  locations: 'Locations',
  readers: 'Readers',
  members: 'Members',
  api_keys: 'API keys',
  imports: 'Stored imports',
  stored_bytes: 'Stored data (estimated every hour)',
  live_streams: 'Open live streams',
  query_seconds: 'Searches and reports in this minute',
}

function formatUse(quota: string, value: number): string {
  if (quota === 'stored_bytes') return `${formatNumber(Math.round(value / 1e8) / 10)} GB`
  return quota === 'query_seconds' ? `${formatNumber(value)} s` : formatNumber(value)
}

/** The organization's usage and its limits. */
function Quotas() {
  const { org } = useUser()
  const quotas = useQuery({ queryKey: ['quotas'], queryFn: () => getOne<Quota[]>('/quotas') })
  return (
    <Card title={`Quotas of ${org.name}`}>
      <QueryView query={quotas} rows={9}>
        {(all) => (
          <Table aria-label="Quotas" horizontalSpacing={0}>
            <Table.Tbody>
              {all.map(({ quota, used, limit }) => (
                <Table.Tr key={quota}>
                  <Table.Td w="45%">{quotaLabels[quota] ?? quota}</Table.Td>
                  <Table.Td>
                    {formatUse(quota, used)} of {formatUse(quota, limit)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </QueryView>
    </Card>
  )
}

function OwnData() {
  const action = useMutation({ mutationFn: () => download('/auth/export', 'account.ndjson') })
  return (
    <Card title="Your data">
      <Text size="sm" mb="sm">
        A file with everything that is stored about you: your account, sessions and saved views, the API keys that you
        created and the notes that you wrote. It has one JSON object per line.
      </Text>
      {action.isError && <ErrorAlert error={action.error} />}
      <Button variant="default" loading={action.isPending} onClick={() => action.mutate()}>
        Download your data
      </Button>
    </Card>
  )
}

export function AccountPage() {
  const user = useUser()
  const [isSigningOut, setSigningOut] = useState(false)
  return (
    <Page kind="form" title="Account">
      <Stack>
        <Card title="Profile">
          <Group gap="xl">
            <Fact label="E-mail">{user.email}</Fact>
            <Fact label="Time zone">{timeZone}</Fact>
          </Group>
          <Table mt="sm" aria-label="Your organizations" horizontalSpacing={0}>
            <Table.Tbody>
              {user.orgs.map((org) => (
                <Table.Tr key={org.id}>
                  <Table.Td w="45%" fw={org.id === user.org.id ? 600 : 400}>
                    {org.name}
                  </Table.Td>
                  <Table.Td>
                    {roleLabel(org.role)}
                    <Text size="xs" c="dimmed">
                      {roleDescriptions[org.role]}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Card>
        <Password />
        <OwnData />
        <Card title="Sessions">
          <Text size="sm" mb="sm">
            Lost a phone, or forgot to sign out on another device? This ends all your sessions, including this one.
          </Text>
          <Button variant="default" onClick={() => setSigningOut(true)}>
            Sign out everywhere
          </Button>
        </Card>
        <Quotas />
      </Stack>
      <Confirm
        opened={isSigningOut}
        title="Sign out everywhere?"
        verb="Sign out everywhere"
        onConfirm={signOutEverywhere}
        onClose={() => setSigningOut(false)}
      >
        All your sessions end immediately, including the session on this device.
      </Confirm>
    </Page>
  )
}

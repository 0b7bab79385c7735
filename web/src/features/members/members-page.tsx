import { Badge, Box, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { get, patch, post, remove } from '../../api/request.ts'
import { type Invitation, type List, type Member, type NewInvitation, type Role, roles } from '../../api/types.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { OneTimeSecrets } from '../../components/copy.tsx'
import { IconUserPlus } from '../../components/icons.ts'
import { Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { ErrorAlert, notify, notifyError } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useUser } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { emailRule, showFieldErrors } from '../../lib/forms.ts'
import { roleDescriptions, roleLabel } from '../../lib/roles.ts'
import { date, formatNumber } from '../../lib/time.ts'

const size = 50

const options = roles.map((role) => ({ value: role, label: roleLabel(role) }))

export function MembersPage() {
  return (
    <AdminOnly title="Members">
      <Members />
    </AdminOnly>
  )
}

function Members() {
  const user = useUser()
  const queries = useQueryClient()
  const { page = 1, create } = useSearch({ from: '/shell/settings/members' })
  const navigate = useNavigate({ from: '/settings/members' })
  const request = { limit: size, offset: (page - 1) * size }
  const setInviting = (isOpen: boolean): void =>
    void navigate({
      search: (old) => ({ ...old, create: isOpen ? 'yes' : undefined }) as never,
      replace: true,
      ignoreBlocker: true,
    })
  const [memberToRemove, setMemberToRemove] = useState<Member | null>(null)
  const members = useQuery({
    queryKey: ['members', request],
    queryFn: ({ signal }) => get<List<Member>>('/members', request, signal),
    placeholderData: keepPreviousData,
  })
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ['members'] })
  const change = useMutation({
    mutationFn: ({ id, role }: { id: number; role: Role }) => patch(`/members/${id}`, { role }),
    onSuccess: () => notify('The role was changed. It applies immediately.'),
    onError: notifyError,
    onSettled: refresh,
  })
  return (
    <Page
      kind="form"
      title="Members"
      lead={`The members of ${user.org.name} and their roles.`}
      actions={
        <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      <Stack>
        <Card>
          <QueryView query={members} rows={4}>
            {({ data }) => (
              <div role="list" aria-label="Members">
                {data.map((one) => (
                  <div className="move-row member-row" role="listitem" key={one.user_id}>
                    <Box style={{ flex: '1 1 200px', minWidth: 0 }}>
                      <Text size="sm" fw={550}>
                        {one.email} {one.user_id === user.id && <Badge color="gray">you</Badge>}
                      </Text>
                      <Text size="xs" c="dimmed">
                        Member since {date(one.joined_at)}
                      </Text>
                    </Box>
                    <Select
                      aria-label={`Role of ${one.email}`}
                      size="xs"
                      w={120}
                      allowDeselect={false}
                      data={options}
                      value={one.role}
                      onChange={(role) => role !== null && change.mutate({ id: one.user_id, role: role })}
                    />
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      color="red"
                      aria-label={`Remove ${one.email}`}
                      onClick={() => setMemberToRemove(one)}
                    >
                      Remove
                    </Button>
                  </div>
                ))}
              </div>
            )}
          </QueryView>
          <Pager
            page={page}
            size={size}
            total={members.data?.total_count ?? 0}
            rows={members.data?.data.length ?? 0}
            onPage={(next) => void navigate({ search: next === 1 ? {} : { page: next } })}
            what="members"
          />
        </Card>
        <Invitations />
        <Card title="Permissions of each role">
          {roles.map((role) => (
            <Text size="sm" key={role}>
              <b>{roleLabel(role)}:</b> {roleDescriptions[role]}
            </Text>
          ))}
        </Card>
      </Stack>
      {create === 'yes' && <Invite onClose={() => setInviting(false)} />}
      <Confirm
        opened={memberToRemove !== null}
        title={`Remove ${memberToRemove?.email ?? ''}?`}
        verb="Remove member"
        onClose={() => setMemberToRemove(null)}
        onConfirm={async () => {
          await remove(`/members/${String(memberToRemove?.user_id)}`)
          notify('The member was removed.')
          refresh()
        }}
      >
        The member loses access to {user.org.name} immediately. Their past changes are kept.
      </Confirm>
    </Page>
  )
}

function Invitations() {
  const queries = useQueryClient()
  const open = useQuery({
    queryKey: ['invitations'],
    queryFn: ({ signal }) => get<List<Invitation>>('/invitations', { limit: 200 }, signal),
  })
  const withdraw = useMutation({
    mutationFn: (id: number) => remove(`/invitations/${id}`),
    onSuccess: () => notify('The invitation was withdrawn. Its link no longer works.'),
    onError: notifyError,
    onSettled: () => queries.invalidateQueries({ queryKey: ['invitations'] }),
  })
  if (open.data?.data.length === 0) return null
  return (
    <Card title="Pending invitations">
      <QueryView query={open} rows={1}>
        {({ data, total_count: total }) => [
          total > data.length && (
            <Text size="sm" key="truncated">
              First {formatNumber(data.length)} of {formatNumber(total)} invitations.
            </Text>
          ),
          ...data.map((one) => (
            <div className="move-row" key={one.id} style={{ flexWrap: 'wrap' }}>
              <Text size="sm" style={{ flex: '1 1 190px', minWidth: 0 }}>
                Invitation for {one.email} <Badge color="gray">{roleLabel(one.role)}</Badge>
              </Text>
              <Text size="xs" c="dimmed">
                expires <RelativeTime at={one.expires_at} />
              </Text>
              <Button
                size="compact-sm"
                variant="subtle"
                color="gray"
                aria-label={`Withdraw the invitation of ${one.email}`}
                loading={withdraw.isPending && withdraw.variables === one.id}
                disabled={withdraw.isPending}
                onClick={() => withdraw.mutate(one.id)}
              >
                Withdraw
              </Button>
            </div>
          )),
        ]}
      </QueryView>
    </Card>
  )
}

function Invite({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm<{ email: string; role: Role }>({
    initialValues: { email: '', role: 'operator' },
    validate: { email: emailRule },
  })
  const action = useMutation({
    mutationFn: () => post<NewInvitation>('/invitations', form.getValues()),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['invitations'] }),
    onError: (error) => showFieldErrors(form, error),
  })
  const created = action.data
  return (
    <GuardedModal
      guards={created !== undefined ? 'secret' : form.isDirty() ? 'input' : null}
      opened
      onClose={onClose}
      title="Invite a member"
      size={created === undefined ? 'md' : 'lg'}
    >
      {created === undefined ? (
        <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
          <Stack gap="sm">
            <TextInput label="E-mail" type="email" data-autofocus {...form.getInputProps('email')} />
            <Select
              label="Role"
              description={roleDescriptions[form.values.role]}
              allowDeselect={false}
              data={options}
              {...form.getInputProps('role')}
            />
            {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={action.isPending}>
                Invite
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <OneTimeSecrets values={[{ label: `Link for ${created.email}`, value: created.link }]} onDone={onClose}>
          <Text size="sm">
            The link can be used once, within seven days. If the server can send mail, the invitation was also sent.
          </Text>
        </OneTimeSecrets>
      )}
    </GuardedModal>
  )
}

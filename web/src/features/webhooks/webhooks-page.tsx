import { Badge, Button, Checkbox, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { get, patch, post, remove } from '../../api/request.ts'
import type { List, Webhook, WebhookTest, WebhookWithSecret } from '../../api/types.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { OneTimeSecrets } from '../../components/copy.tsx'
import { IconSend, IconTrash } from '../../components/icons.ts'
import { Card, Fact, Page } from '../../components/page.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { showFieldErrors } from '../../lib/forms.ts'
import { changedFields } from '../../lib/merge-changes.ts'
import { RecentAttempts, isDelivered, pollMs } from './recent-attempts.tsx'

const urlRule = (value: string): string | null =>
  /^https:\/\/[^\s/]+/.test(value) ? null : 'A URL that begins with https:// is required'

export function WebhooksPage() {
  return (
    <AdminOnly title="Webhooks">
      <Webhooks />
    </AdminOnly>
  )
}

function Webhooks() {
  const hooks = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => get<List<Webhook>>('/webhooks', undefined, signal),
    refetchInterval: pollMs,
  })
  const [created, setCreated] = useState<WebhookWithSecret | null>(null)
  return (
    <Page
      kind="form"
      title="Webhooks"
      lead="Lastseen sends a request to your URL when an asset moves to another location."
    >
      <QueryView query={hooks} rows={3}>
        {({ data: [hook] }) =>
          hook === undefined ? <NewWebhook onCreated={setCreated} /> : <WebhookDetails key={hook.id} hook={hook} />
        }
      </QueryView>
      <GuardedModal
        guards="secret"
        opened={created !== null}
        onClose={() => setCreated(null)}
        title="Signing secret"
        size="lg"
      >
        <OneTimeSecrets
          values={[{ label: 'Secret that signs every delivery', value: created?.secret ?? '' }]}
          onDone={() => setCreated(null)}
        />
      </GuardedModal>
    </Page>
  )
}

function NewWebhook({ onCreated }: { onCreated: (hook: WebhookWithSecret) => void }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { url: '', enabled: true }, validate: { url: urlRule } })
  const action = useMutation({
    mutationFn: () => post<WebhookWithSecret>('/webhooks', form.getValues()),
    onSuccess: (hook) => {
      onCreated(hook)
      void queries.invalidateQueries({ queryKey: ['webhooks'] })
    },
    onError: (error) => showFieldErrors(form, error),
  })
  return (
    <Card title="No webhook yet">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm">
          <Text size="sm" c="dimmed">
            An organization has one webhook. It receives a POST request with <Code>asset.moved</Code>, signed with a
            secret that is shown once. A failed delivery is tried three times within seconds, then dropped.
          </Text>
          <TextInput
            label="URL"
            placeholder="For example https://example.com/lastseen"
            {...form.getInputProps('url')}
          />
          <Checkbox label="Deliver events" {...form.getInputProps('enabled', { type: 'checkbox' })} />
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group>
            <Button type="submit" loading={action.isPending}>
              Create webhook
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

function TestEvent({ hook }: { hook: Webhook }) {
  const queries = useQueryClient()
  const action = useMutation({
    mutationFn: () => post<WebhookTest>(`/webhooks/${hook.id}/test`),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', hook.id] }),
  })
  const result = action.data
  const isSuccess = result !== undefined && isDelivered(result)
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Button
          variant="default"
          leftSection={<IconSend size={16} />}
          loading={action.isPending}
          onClick={() => action.mutate()}
        >
          Send test event
        </Button>
        {result !== undefined && (
          <Text size="sm" role="status">
            <Badge color={isSuccess ? 'harbor' : 'red'}>
              {result.status === null ? 'no response' : `HTTP ${result.status}`}
            </Badge>{' '}
            {result.error ?? ''} after {result.duration_ms} ms
          </Text>
        )}
      </Group>
      {action.isError && <ErrorAlert error={action.error} />}
    </Stack>
  )
}

function WebhookDetails({ hook }: { hook: Webhook }) {
  const queries = useQueryClient()
  const [isDeleting, setDeleting] = useState(false)
  const isFailing = hook.failing_since !== null
  // The version of the webhook that the form was opened with; other users may have changed the webhook since.
  const [initial, setInitial] = useState({ url: hook.url, enabled: hook.enabled })
  const form = useForm({ initialValues: initial, validate: { url: urlRule } })
  const refresh = (): void => void queries.invalidateQueries({ queryKey: ['webhooks'] })
  const action = useMutation({
    mutationFn: () => patch<Webhook>(`/webhooks/${hook.id}`, changedFields(initial, form.getValues())),
    onSuccess: (saved) => {
      const values = { url: saved.url, enabled: saved.enabled }
      setInitial(values)
      form.setValues(values)
      form.resetDirty(values)
      notify(saved.enabled ? 'Saved. Events are delivered.' : 'Saved. Events are no longer delivered.')
      refresh()
    },
    onError: (error) => showFieldErrors(form, error),
  })
  return (
    <Stack>
      <Card
        title="Webhook"
        aside={
          <Badge color={!hook.enabled ? 'gray' : isFailing ? 'red' : 'harbor'}>
            {!hook.enabled ? 'off' : isFailing ? 'failing' : 'delivering'}
          </Badge>
        }
      >
        <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
          <Stack gap="sm">
            <TextInput label="URL" {...form.getInputProps('url')} />
            <Checkbox
              label="Deliver events"
              description="Takes effect when you save. Events are dropped while delivery is off."
              {...form.getInputProps('enabled', { type: 'checkbox' })}
            />
            <Fact label="Signing secret">
              <Code>{hook.secret_masked}</Code>
            </Fact>
            {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
            <Group justify="space-between">
              <Button type="submit" loading={action.isPending} disabled={!form.isDirty()}>
                Save
              </Button>
              <Button
                variant="subtle"
                color="red"
                leftSection={<IconTrash size={16} />}
                onClick={() => setDeleting(true)}
              >
                Delete
              </Button>
            </Group>
          </Stack>
        </form>
      </Card>
      <Card title="Test delivery">
        <TestEvent hook={hook} />
      </Card>
      <RecentAttempts hook={hook} />
      <Confirm
        opened={isDeleting}
        title="Delete the webhook?"
        verb="Delete webhook"
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await remove(`/webhooks/${hook.id}`)
          notify('The webhook was deleted.')
          refresh()
        }}
      >
        Deliveries stop and the secret is deleted. A new webhook gets a new secret.
      </Confirm>
    </Stack>
  )
}

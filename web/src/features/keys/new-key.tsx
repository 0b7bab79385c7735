import { Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { post } from '../../api/request.ts'
import type { NewApiKey } from '../../api/types.ts'
import { DateTimePicker } from '../../components/date-time-picker.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { useUser } from '../../components/use-session.ts'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'

const resources = ['assets', 'locations', 'tracking'] as const
type Resource = (typeof resources)[number]
type Level = 'none' | 'read' | 'write'

const titles: Record<Resource, string> = { assets: 'Assets', locations: 'Locations', tracking: 'Tracking' }

const none = { value: 'none', label: 'None' }
const read = { value: 'read', label: 'Read' }
const write = { value: 'write', label: 'Read + write' }

/** Read grants `:read`; Read + write grants `:read` and `:write`. */
const scopesOf = (levels: Record<Resource, Level>): string[] =>
  resources.flatMap((name) => {
    if (levels[name] === 'none') return []
    return levels[name] === 'write' ? [`${name}:read`, `${name}:write`] : [`${name}:read`]
  })

const dayMs = 86_400_000

interface Values {
  name: string
  scopes: Record<Resource, Level>
  expiry: string
  expires_at: string | null
}

export function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: NewApiKey) => void }) {
  const { org } = useUser()
  const form = useForm<Values>({
    initialValues: {
      name: '',
      scopes: { assets: 'read', locations: 'read', tracking: 'read' },
      expiry: 'never',
      expires_at: toPickerValue(new Date(Date.now() + 90 * dayMs).toISOString()),
    },
    validate: {
      name: required('A name'),
      scopes: (levels) => (scopesOf(levels).length === 0 ? 'A key needs at least one scope' : null),
    },
  })
  const action = useMutation({
    mutationFn: () => {
      const { name, scopes, expiry, expires_at: at } = form.getValues()
      const body = {
        name,
        scopes: scopesOf(scopes),
        ...(expiry === 'never' ? {} : { expires_at: fromPickerValue(at) }),
      }
      return post<NewApiKey>(`/orgs/${org.id}/api-keys`, body)
    },
    onSuccess: onCreated,
    onError: (error) => showFieldErrors(form, error),
  })
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened onClose={onClose} title="New key" size="lg">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="md">
          <TextInput
            label="Name"
            placeholder="For example ERP sync"
            required
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Stack gap="xs">
            {resources.map((name) => (
              <Group key={name} justify="space-between" gap="xs">
                <Text size="sm" fw={550}>
                  {titles[name]}
                </Text>
                <SegmentedControl
                  aria-label={titles[name]}
                  size="xs"
                  value={form.values.scopes[name]}
                  onChange={(level) => form.setFieldValue('scopes', { ...form.values.scopes, [name]: level as Level })}
                  data={name === 'tracking' ? [none, read] : [none, read, write]}
                />
              </Group>
            ))}
            {form.errors['scopes'] !== undefined && (
              <Text size="sm" c="var(--mantine-color-error)">
                {form.errors['scopes']}
              </Text>
            )}
          </Stack>
          <Stack gap={6}>
            <Group justify="space-between" gap="xs">
              <Text size="sm" fw={550}>
                Expires
              </Text>
              <SegmentedControl
                aria-label="Expires"
                size="xs"
                data={[
                  { value: 'never', label: 'Never' },
                  { value: 'at', label: 'On a date' },
                ]}
                {...form.getInputProps('expiry')}
              />
            </Group>
            {form.values.expiry === 'at' && <DateTimePicker label="Expires at" {...form.getInputProps('expires_at')} />}
          </Stack>
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              Create key
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

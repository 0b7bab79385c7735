import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type RecordKind, renameRecord } from '../api/assets.ts'
import { required, showFieldErrors } from '../lib/forms.ts'
import { showKeyConflict } from './conflicts.tsx'
import { ErrorAlert, notify } from './feedback.tsx'
import { GuardedModal } from './guarded-modal.tsx'
import { refreshOverview } from '../api/overview.ts'

/** Changes the key of a record. Its history and tags are kept. */
export function RenameKey({
  kind,
  id,
  current,
  opened,
  onClose,
}: {
  kind: RecordKind
  id: number
  current: string
  opened: boolean
  onClose: () => void
}) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: { external_key: current }, validate: { external_key: required('A key') } })
  const action = useMutation({
    mutationFn: () => renameRecord(kind, id, form.getValues().external_key),
    onSuccess: ({ descendant_count_affected: below }) => {
      void queries.invalidateQueries({ queryKey: [kind] })
      refreshOverview(queries)
      notify(
        below > 0
          ? `Renamed; ${below === 1 ? 'the path of 1 location' : `the paths of ${below} locations`} below it changed too.`
          : 'Renamed.',
      )
      onClose()
    },
    onError: (error) => {
      showFieldErrors(form, error)
      showKeyConflict(form, kind, error)
    },
  })
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened={opened} onClose={onClose} title="Rename the key">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm">
          <Text size="sm">
            Other systems may refer to this {kind === 'assets' ? 'asset' : 'location'} by its key. Its history and tags
            are kept.
          </Text>
          <TextInput label="Key" data-autofocus maxLength={255} {...form.getInputProps('external_key')} />
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

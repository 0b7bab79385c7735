import { Button, Group, Stack, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLocation } from '../../api/locations.ts'
import { showKeyConflict } from '../../components/conflicts.tsx'
import { LocationPicker, topLevel } from '../../components/pickers.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { refreshOverview } from '../../api/overview.ts'

export function NewLocation({ parentId, onClose }: { parentId: number | null; onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm({
    initialValues: { name: '', external_key: '', description: '', parent_id: parentId },
    validate: { name: required('A name') },
  })
  const action = useMutation({
    mutationFn: () => {
      const { name, external_key: key, description, parent_id: parent } = form.getValues()
      return createLocation({
        name,
        ...(key === '' ? {} : { external_key: key }),
        ...(description === '' ? {} : { description }),
        ...(parent === null ? {} : { parent_id: parent }),
      })
    },
    onSuccess: (created) => {
      void queries.invalidateQueries({ queryKey: ['locations'] })
      refreshOverview(queries)
      notify(`${created.name} was created.`)
      onClose()
    },
    onError: (error) => {
      showFieldErrors(form, error)
      showKeyConflict(form, 'locations', error)
    },
  })
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened onClose={onClose} title="Create location">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm">
          <TextInput label="Name" data-autofocus required maxLength={255} {...form.getInputProps('name')} />
          <TextInput
            label="Key"
            description="Your own identifier. If empty, a key such as LOC-001 is generated."
            maxLength={255}
            {...form.getInputProps('external_key')}
          />
          <LocationPicker
            label="Parent location"
            placeholder={topLevel}
            noneLabel={topLevel}
            value={form.values.parent_id}
            onChange={(id) => form.setFieldValue('parent_id', id)}
          />
          <Textarea label="Description" autosize minRows={2} maxLength={1024} {...form.getInputProps('description')} />
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              Create location
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

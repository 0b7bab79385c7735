import { Button, Group, Select, Stack, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ConflictError } from '../../../../client/src/errors.ts'
import { createAsset } from '../../api/assets.ts'
import { TagConflict, showKeyConflict } from '../../components/conflicts.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { tagTypes } from '../../lib/tags.ts'
import { refreshOverview } from '../../api/overview.ts'

/** Omits empty fields. The server generates a key when none is sent. */
function bodyOf(values: { name: string; external_key: string; description: string; tag_type: string; tags: string }) {
  const { name, external_key: key, description, tag_type, tags } = values
  return {
    name,
    ...(key === '' ? {} : { external_key: key }),
    ...(description === '' ? {} : { description }),
    ...(tags === '' ? {} : { tags: [{ tag_type, value: tags }] }),
  }
}

export function NewAsset({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { name: '', external_key: '', description: '', tag_type: 'rfid', tags: '' },
    validate: { name: required('A name') },
  })
  const action = useMutation({
    mutationFn: () => createAsset(bodyOf(form.getValues())),
    onSuccess: (asset) => {
      void queries.invalidateQueries({ queryKey: ['assets'] })
      refreshOverview(queries)
      notify(`${asset.name} was created.`)
      onClose()
      void navigate({ to: '/assets/$assetId', params: { assetId: String(asset.id) }, ignoreBlocker: true })
    },
    onError: (error) => {
      showFieldErrors(form, error)
      showKeyConflict(form, 'assets', error)
      const { tag_type: type, tags: value } = form.getValues()
      if (error instanceof ConflictError && error.message.startsWith('A tag'))
        form.setFieldError('tags', <TagConflict type={type} value={value} />)
    },
  })
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened onClose={onClose} title="Create asset">
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm">
          <TextInput label="Name" data-autofocus maxLength={255} required {...form.getInputProps('name')} />
          <TextInput
            label="Key"
            description="Your own identifier. If empty, a key such as ASSET-0001 is generated."
            maxLength={255}
            {...form.getInputProps('external_key')}
          />
          <Textarea label="Description" autosize minRows={2} maxLength={1024} {...form.getInputProps('description')} />
          <Group gap="xs" grow preventGrowOverflow={false} align="flex-start">
            <Select
              label="Tag type"
              data={tagTypes}
              allowDeselect={false}
              style={{ flex: '0 0 110px' }}
              {...form.getInputProps('tag_type')}
            />
            <TextInput
              label="Tag value"
              placeholder="Scan or type the value"
              maxLength={255}
              {...form.getInputProps('tags')}
            />
          </Group>
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              Create asset
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

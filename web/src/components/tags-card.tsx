import { ActionIcon, Badge, Button, Group, Select, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ConflictError } from '../../../client/src/errors.ts'
import { type RecordKind, attachTag, detachTag } from '../api/assets.ts'
import type { Tag } from '../api/types.ts'
import { required, showFieldErrors } from '../lib/forms.ts'
import { tagLabel, tagTypes } from '../lib/tags.ts'
import { TagConflict } from './conflicts.tsx'
import { IconTags, IconX } from './icons.ts'
import { Card } from './page.tsx'
import { ErrorAlert, notify, notifyError, notifyWithUndo } from './feedback.tsx'

function AttachForm({ kind, id, onChanged }: { kind: RecordKind; id: number; onChanged: () => void }) {
  const form = useForm({ initialValues: { tag_type: 'rfid', value: '' }, validate: { value: required('A value') } })
  const action = useMutation({
    mutationFn: () => attachTag(kind, id, form.getValues()),
    onSuccess: () => {
      form.setFieldValue('value', '')
      onChanged()
    },
    onError: (error) => showFieldErrors(form, error),
  })
  const isTaken = action.error instanceof ConflictError
  return (
    <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
      <Group gap="xs" align="flex-start">
        <Select
          aria-label="Tag type"
          data={tagTypes}
          allowDeselect={false}
          w={108}
          {...form.getInputProps('tag_type')}
        />
        <TextInput
          aria-label="Tag value"
          placeholder="Tag value"
          maxLength={255}
          style={{ flex: '1 1 130px', minWidth: 0 }}
          {...form.getInputProps('value')}
        />
        <Button type="submit" variant="light" loading={action.isPending} style={{ flex: '1 0 auto' }}>
          Attach
        </Button>
      </Group>
      {action.isError && Object.keys(form.errors).length === 0 && (
        <Text size="sm" component="div" mt={8} role="alert">
          {isTaken ? (
            <TagConflict type={form.values.tag_type} value={form.values.value} />
          ) : (
            <ErrorAlert error={action.error} />
          )}
        </Text>
      )}
    </form>
  )
}

/** The tags of an asset or a location. A detached tag can be attached again from the notification. */
export function TagsCard({
  kind,
  id,
  tags,
  mayEdit,
}: {
  kind: RecordKind
  id: number
  tags: readonly Tag[]
  mayEdit: boolean
}) {
  const queries = useQueryClient()
  const refresh = (): void => void queries.invalidateQueries({ queryKey: [kind] })
  const detach = useMutation({
    mutationFn: (tag: Tag) => detachTag(kind, id, tag.id),
    onError: notifyError,
    onSuccess: (_done, tag) => {
      refresh()
      notifyWithUndo(`Detached ${tag.value}`, () => {
        attachTag(kind, id, { tag_type: tag.tag_type, value: tag.value })
          .then(() => notify('The tag is attached again.'))
          .catch(notifyError)
          .finally(refresh)
      })
    },
  })
  return (
    <Card title="Tags">
      <Stack gap="sm">
        {tags.length === 0 && (
          <Group gap={8} c="dimmed" wrap="nowrap">
            <IconTags size={18} style={{ flex: 'none' }} />
            <Text size="sm">
              {kind === 'assets'
                ? 'No tags yet. Readers cannot see an asset without a tag; operators can still save its location.'
                : 'No tags yet. With a barcode on the door, users can scan the location.'}
            </Text>
          </Group>
        )}
        {tags.map((tag) => (
          <Group key={tag.id} gap={8} wrap="nowrap" justify="space-between">
            <Group gap={8} wrap="nowrap" style={{ minWidth: 0 }}>
              <Badge variant="light" color="gray" style={{ flex: 'none' }}>
                {tagLabel(tag.tag_type)}
              </Badge>
              <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
                <span className="key">{tag.value}</span>
              </Text>
            </Group>
            {mayEdit && (
              <Tooltip label="Detach">
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`Detach ${tag.value}`}
                  loading={detach.isPending && detach.variables.id === tag.id}
                  disabled={detach.isPending}
                  onClick={() => detach.mutate(tag)}
                >
                  <IconX size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        ))}
        {mayEdit && <AttachForm kind={kind} id={id} onChanged={refresh} />}
      </Stack>
    </Card>
  )
}

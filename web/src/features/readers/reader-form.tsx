import { Button, Group, Select, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type ReaderDraft, createReader, getReader, patchReader } from '../../api/readers.ts'
import type { NewReader, Reader } from '../../api/types.ts'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { changedFields } from '../../lib/merge-changes.ts'
import { timeSources, formats } from './formats.ts'
import { mergeScanPoints } from './merge-scan-points.ts'
import { ScanPoints } from './scan-points.tsx'

const draftOf = (reader: Reader | null, topicKey: string | undefined): ReaderDraft =>
  reader === null
    ? {
        name: topicKey ?? '',
        format: 'auto',
        clock: 'reader',
        scan_points: [{ antenna: 1, location_id: null }],
        ...(topicKey === undefined ? {} : { topic_key: topicKey }),
      }
    : {
        name: reader.name,
        format: reader.format,
        clock: reader.clock,
        scan_points: reader.scan_points.map(({ antenna, location_id }) => ({ antenna, location_id })),
      }

/** Adds a reader, optionally for an existing topic, or edits a reader. */
export function ReaderForm({
  reader,
  topicKey,
  onClose,
  onCreated,
}: {
  reader: Reader | null
  topicKey?: string | undefined
  onClose: () => void
  onCreated?: (created: NewReader) => void
}) {
  const queries = useQueryClient()
  // The version of the reader that the form was opened with; other users may have changed the reader since.
  const [initial] = useState(() => draftOf(reader, topicKey))
  const form = useForm<ReaderDraft>({
    initialValues: initial,
    validate: { name: required('A name') },
  })
  const action = useMutation({
    mutationFn: async () => {
      if (reader === null) onCreated?.(await createReader(form.getValues()))
      else {
        const changes = changedFields(initial, form.getValues())
        if (changes.scan_points !== undefined) {
          const current = await getReader(reader.id)
          changes.scan_points = mergeScanPoints(initial.scan_points, changes.scan_points, current.scan_points)
        }
        if (Object.keys(changes).length > 0) await patchReader(reader.id, changes)
        notify('Saved.')
      }
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['readers'] })
      void queries.invalidateQueries({ queryKey: ['inbox'] })
      if (reader !== null) onClose()
    },
    onError: (error) => showFieldErrors(form, error),
  })
  return (
    <GuardedModal
      guards={form.isDirty() ? 'input' : null}
      opened
      onClose={onClose}
      title={reader === null ? 'Create reader' : `Edit ${reader.name}`}
      size="lg"
    >
      <form onSubmit={form.onSubmit(() => action.mutate())} noValidate>
        <Stack gap="sm">
          <TextInput
            label="Name"
            placeholder="For example Dock 3"
            required
            data-autofocus
            {...form.getInputProps('name')}
          />
          {topicKey !== undefined && (
            <TextInput
              label="Topic"
              readOnly
              variant="filled"
              value={`lastseen/${topicKey}/…`}
              error={form.errors['topic_key']}
            />
          )}
          <Select
            label="Format"
            description="Choose the device, or let Lastseen detect it."
            allowDeselect={false}
            data={[
              { value: 'auto', label: 'Detect automatically' },
              ...formats.map(({ value, label }) => ({ value, label })),
            ]}
            {...form.getInputProps('format')}
          />
          <Select label="Timestamp source" allowDeselect={false} data={timeSources} {...form.getInputProps('clock')} />
          <ScanPoints
            points={form.values.scan_points}
            error={form.errors['scan_points']}
            onChange={(next) => form.setFieldValue('scan_points', next)}
          />
          {action.isError && Object.keys(form.errors).length === 0 && <ErrorAlert error={action.error} />}
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending}>
              {reader === null ? 'Create reader' : 'Save'}
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

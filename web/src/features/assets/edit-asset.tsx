import { Button, Fieldset, Group, JsonInput, SimpleGrid, Stack, Switch, TextInput, Textarea } from '@mantine/core'
import { type UseFormReturnType, useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { StaleError } from '../../../../client/src/errors.ts'
import { InexactNumberError, parseExactJson } from '../../../../client/src/exact-json.ts'
import { mergePatch } from '../../../../client/src/merge-patch.ts'
import { assetKeys, patchAsset } from '../../api/assets.ts'
import { getOne } from '../../api/request.ts'
import type { Asset } from '../../api/types.ts'
import { DateTimePicker } from '../../components/date-time-picker.tsx'
import { EditConflict } from '../../components/edit-conflict.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, toSentence, showFieldErrors } from '../../lib/forms.ts'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'
import { mergeChanges } from '../../lib/merge-changes.ts'

const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

const valuesOf = (asset: Asset) => ({
  name: asset.name,
  description: asset.description ?? '',
  is_active: asset.is_active,
  valid_from: toPickerValue(asset.valid_from),
  valid_to: toPickerValue(asset.valid_to),
  metadata: pretty(asset.metadata),
})

type Values = ReturnType<typeof valuesOf>

const parseMetadata = (text: string): unknown => parseExactJson(text, 'metadata')

const metadataRule = (text: string): string | null => {
  try {
    const value = parseMetadata(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? null
      : 'This must be a JSON object: { … }'
  } catch (error) {
    return error instanceof InexactNumberError ? toSentence(error.message) : 'This is not valid JSON'
  }
}

/** The merge patch with the changed fields, and the `updated_at` of the version they are based on. */
function patchOf(asset: Asset, values: Values): object {
  const before = valuesOf(asset)
  const patch: Record<string, unknown> = { updated_at: asset.updated_at }
  if (values.name !== before.name) patch['name'] = values.name
  if (values.description !== before.description)
    patch['description'] = values.description === '' ? null : values.description
  if (values.is_active !== before.is_active) patch['is_active'] = values.is_active
  if (values.valid_from !== before.valid_from) patch['valid_from'] = fromPickerValue(values.valid_from)
  if (values.valid_to !== before.valid_to) patch['valid_to'] = fromPickerValue(values.valid_to)
  const metadata = mergePatch(asset.metadata, parseMetadata(values.metadata) as object)
  if (Object.keys(metadata).length > 0) patch['metadata'] = metadata
  return patch
}

/** Merges the form's values with a newer version of the asset; metadata key by key. */
function mergeValues(base: Asset, mine: Values, theirs: Asset, keep: 'mine' | 'theirs') {
  const { merged, conflicts } = mergeChanges(
    { ...valuesOf(base), metadata: base.metadata },
    { ...mine, metadata: parseMetadata(mine.metadata) as object },
    { ...valuesOf(theirs), metadata: theirs.metadata },
    keep,
  )
  return { merged: { ...merged, metadata: pretty(merged.metadata) }, conflicts }
}

const labels: Record<keyof Values, string> = {
  name: 'Name',
  description: 'Description',
  is_active: 'Active',
  valid_from: 'Valid from',
  valid_to: 'Valid to',
  metadata: 'Metadata',
}

function Fields({ form, isLocked }: { form: UseFormReturnType<Values>; isLocked: boolean }) {
  return (
    <Fieldset variant="unstyled" disabled={isLocked} style={{ display: 'contents' }}>
      <TextInput label="Name" maxLength={255} required data-autofocus {...form.getInputProps('name')} />
      <Textarea label="Description" autosize minRows={2} maxLength={1024} {...form.getInputProps('description')} />
      <Switch label="Active" {...form.getInputProps('is_active', { type: 'checkbox' })} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        <DateTimePicker label="Valid from" withSeconds {...form.getInputProps('valid_from')} />
        <DateTimePicker
          label="Valid to"
          withSeconds
          clearable
          placeholder="No end"
          {...form.getInputProps('valid_to')}
        />
      </SimpleGrid>
      <JsonInput
        label="Metadata"
        description="Additional data as a JSON object"
        autosize
        minRows={4}
        maxRows={14}
        deserialize={parseMetadata}
        validationError={metadataRule(form.values.metadata)}
        {...form.getInputProps('metadata')}
      />
    </Fieldset>
  )
}

export function EditAsset({ asset, onClose }: { asset: Asset; onClose: () => void }) {
  const queries = useQueryClient()
  const [base, setBase] = useState(asset)
  const [theirs, setTheirs] = useState<Asset | null>(null)
  const form = useForm<Values>({
    initialValues: valuesOf(asset),
    validate: { name: required('A name'), metadata: metadataRule },
  })
  /** Returns null when the user has to decide about a conflict. */
  const save = async ({ from, values }: { from: Asset; values: Values }): Promise<Asset | null> => {
    try {
      return await patchAsset(asset.id, patchOf(from, values))
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      const next = await getOne<Asset>(`/assets/${asset.id}`)
      const { merged, conflicts } = mergeValues(from, values, next, 'mine')
      if (conflicts.length === 0) return save({ from: rebase(next, merged), values: merged })
      setTheirs(next)
      return null
    }
  }
  const action = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      if (saved === null) return
      queries.setQueryData(assetKeys.one(asset.id), saved)
      void queries.invalidateQueries({ queryKey: ['assets', 'list'] })
      notify('Saved.')
      onClose()
    },
    onError: (error) => void showFieldErrors(form, error),
  })
  const rebase = (next: Asset, values: Values): Asset => {
    queries.setQueryData(assetKeys.one(asset.id), next)
    form.setValues(values)
    setBase(next)
    setTheirs(null)
    return next
  }
  const merge = (next: Asset, keep: 'mine' | 'theirs') => mergeValues(base, form.values, next, keep)
  const hasFormError = action.isError && theirs === null && Object.keys(form.errors).length === 0
  return (
    <GuardedModal
      guards={form.isDirty() ? 'input' : null}
      opened
      onClose={onClose}
      title={`Edit ${asset.name}`}
      size="lg"
    >
      <form onSubmit={form.onSubmit((values) => action.mutate({ from: base, values }))} noValidate>
        <Stack gap="sm">
          {theirs !== null && (
            <EditConflict
              conflicts={merge(theirs, 'mine').conflicts}
              labels={labels}
              onTakeTheirs={() => {
                rebase(theirs, merge(theirs, 'theirs').merged)
                action.reset()
              }}
              onKeepMine={() => {
                const { merged } = merge(theirs, 'mine')
                action.mutate({ from: rebase(theirs, merged), values: merged })
              }}
            />
          )}
          <Fields form={form} isLocked={theirs !== null} />
          {hasFormError && <ErrorAlert error={action.error} />}
          <Group justify="flex-end" mt="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={action.isPending} disabled={theirs !== null}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </GuardedModal>
  )
}

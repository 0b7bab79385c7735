import { Button, Group, Stack, Switch, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getOne } from '../../api/request.ts'
import { StaleError } from '../../../../client/src/errors.ts'
import { patchLocation } from '../../api/locations.ts'
import type { Location } from '../../api/types.ts'
import { EditConflict } from '../../components/edit-conflict.tsx'
import { LocationPicker, topLevel } from '../../components/pickers.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { type FieldConflict, mergeChanges } from '../../lib/merge-changes.ts'
import { refreshOverview, useLocationCounts } from '../../api/overview.ts'

const valuesOf = (one: Location) => ({
  name: one.name,
  description: one.description ?? '',
  is_active: one.is_active,
  parent_id: one.parent_id,
})

type Values = ReturnType<typeof valuesOf>

function patchOf(base: Location, values: Values): object {
  const before = valuesOf(base)
  const patch: Record<string, unknown> = { updated_at: base.updated_at }
  if (values.name !== before.name) patch['name'] = values.name
  if (values.description !== before.description)
    patch['description'] = values.description === '' ? null : values.description
  if (values.is_active !== before.is_active) patch['is_active'] = values.is_active
  if (values.parent_id !== before.parent_id) patch['parent_id'] = values.parent_id
  return patch
}

const labels: Record<keyof Values, string> = {
  name: 'Name',
  description: 'Description',
  is_active: 'Active',
  parent_id: 'Parent location',
}

/** Edits a location or moves it to another parent. */
export function EditLocation({ location, onClose }: { location: Location; onClose: () => void }) {
  const queries = useQueryClient()
  const [base, setBase] = useState(location)
  const [theirs, setTheirs] = useState<Location | null>(null)
  const form = useForm<Values>({ initialValues: valuesOf(location), validate: { name: required('A name') } })
  /** Returns null when the user has to decide about a conflict. */
  const save = async ({ from, values }: { from: Location; values: Values }): Promise<Location | null> => {
    try {
      return await patchLocation(location.id, patchOf(from, values))
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      const next = await getOne<Location>(`/locations/${location.id}`)
      const { merged, conflicts } = mergeChanges(valuesOf(from), values, valuesOf(next), 'mine')
      if (conflicts.length === 0) return save({ from: rebase(next, merged), values: merged })
      setTheirs(next)
      return null
    }
  }
  const action = useMutation({
    mutationFn: save,
    onSuccess: (saved) => {
      if (saved === null) return
      void queries.invalidateQueries({ queryKey: ['locations'] })
      refreshOverview(queries)
      notify('Saved.')
      onClose()
    },
    onError: (error) => void showFieldErrors(form, error),
  })
  const rebase = (next: Location, values: Values): Location => {
    form.setValues(values)
    setBase(next)
    setTheirs(null)
    return next
  }
  const merge = (next: Location, keep: 'mine' | 'theirs') =>
    mergeChanges(valuesOf(base), form.values, valuesOf(next), keep)
  const counts = useLocationCounts()
  const withParentName = ({ path, mine, theirs: others }: FieldConflict): FieldConflict => {
    const nameOf = (id: unknown): unknown => counts.get(id as number)?.name ?? id
    return path[0] === 'parent_id'
      ? { path, mine: nameOf(mine), theirs: nameOf(others) }
      : { path, mine, theirs: others }
  }
  const hasFormError = action.isError && theirs === null && Object.keys(form.errors).length === 0
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened onClose={onClose} title={`Edit ${location.name}`}>
      <form onSubmit={form.onSubmit((values) => action.mutate({ from: base, values }))} noValidate>
        <Stack gap="sm">
          {theirs !== null && (
            <EditConflict
              conflicts={merge(theirs, 'mine').conflicts.map(withParentName)}
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
          <TextInput label="Name" required data-autofocus maxLength={255} {...form.getInputProps('name')} />
          <LocationPicker
            label="Parent location"
            description="The locations below it move with it."
            placeholder={topLevel}
            noneLabel={topLevel}
            value={form.values.parent_id}
            onChange={(id) => form.setFieldValue('parent_id', id)}
            error={form.errors['parent_id']}
          />
          <Textarea label="Description" autosize minRows={2} maxLength={1024} {...form.getInputProps('description')} />
          <Switch label="Active" {...form.getInputProps('is_active', { type: 'checkbox' })} />
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

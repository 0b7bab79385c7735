import { Button, Group, Stack, Switch, TextInput, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getOne } from '../../api/request.ts'
import { StaleError } from '../../../../client/src/errors.ts'
import { patchLocation } from '../../api/locations.ts'
import type { Location } from '../../api/types.ts'
import { EditConflict } from '../../components/edit-conflict.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { required, showFieldErrors } from '../../lib/forms.ts'
import { refreshOverview } from '../../api/overview.ts'

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

const displayValue = (one: Location, name: keyof Values): string =>
  name === 'parent_id' ? (one.parent_external_key ?? 'none') : String(valuesOf(one)[name])

/** Edits a location or moves it to another parent. */
export function EditLocation({ location, onClose }: { location: Location; onClose: () => void }) {
  const queries = useQueryClient()
  const [base, setBase] = useState(location)
  const [theirs, setTheirs] = useState<Location | null>(null)
  const form = useForm<Values>({ initialValues: valuesOf(location), validate: { name: required('A name') } })
  const action = useMutation({
    mutationFn: (from: Location) => patchLocation(location.id, patchOf(from, form.getValues())),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['locations'] })
      refreshOverview(queries)
      notify('Saved.')
      onClose()
    },
    onError: async (error) => {
      if (error instanceof StaleError) setTheirs(await getOne<Location>(`/locations/${location.id}`))
      else showFieldErrors(form, error)
    },
  })
  const rebase = (next: Location): void => {
    setBase(next)
    setTheirs(null)
    action.reset()
  }
  const hasFormError =
    action.isError && theirs === null && !(action.error instanceof StaleError) && Object.keys(form.errors).length === 0
  return (
    <GuardedModal guards={form.isDirty() ? 'input' : null} opened onClose={onClose} title={`Edit ${location.name}`}>
      <form onSubmit={form.onSubmit(() => action.mutate(base))} noValidate>
        <Stack gap="sm">
          {theirs !== null && (
            <EditConflict
              differences={(Object.keys(labels) as (keyof Values)[])
                .filter((name) => form.values[name] !== valuesOf(theirs)[name])
                .map((name) => ({ field: labels[name], theirs: displayValue(theirs, name) }))}
              onTakeTheirs={() => {
                form.setValues(valuesOf(theirs))
                rebase(theirs)
              }}
              onKeepMine={() => {
                rebase(theirs)
                action.mutate(theirs)
              }}
            />
          )}
          <TextInput label="Name" required data-autofocus maxLength={255} {...form.getInputProps('name')} />
          <LocationPicker
            label="Parent location"
            description="The locations below it move with it."
            placeholder="None (top level)"
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

import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { setLocation } from '../../api/assets.ts'
import { oneLocation } from '../../api/locations.ts'
import { refreshOverview } from '../../api/overview.ts'
import { ErrorAlert, notify } from '../../components/feedback.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { formatNumber } from '../../lib/time.ts'

/** Records that assets are at a location now, like a save on the scan page. */
export function SetLocation({
  assets,
  onClose,
}: {
  assets: readonly { external_key: string; name: string }[]
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [locationId, setLocationId] = useState<number | null>(null)
  const [note, setNote] = useState('')
  const what = assets.length === 1 ? assets[0]!.name : `${formatNumber(assets.length)} assets`
  const save = useMutation({
    mutationFn: async (id: number) => {
      const location = await queries.query(oneLocation(id))
      const keys = assets.map((one) => one.external_key)
      await setLocation(location.external_key, keys, note.trim() === '' ? null : note.trim())
      return location
    },
    onSuccess: async (location) => {
      notify(`${what} ${assets.length === 1 ? 'is' : 'are'} at ${location.name} now.`)
      refreshOverview(queries)
      onClose()
      await Promise.all(['positions', 'assets', 'moves'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
    },
  })
  return (
    <GuardedModal
      guards={note === '' && locationId === null ? null : 'input'}
      opened
      onClose={onClose}
      title={`Set the location of ${what}`}
    >
      <Stack
        component="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (locationId !== null) save.mutate(locationId)
        }}
      >
        <Text size="sm">
          This records that you see {assets.length === 1 ? 'it' : 'them'} there now. The next read of a tag can change
          the location again.
        </Text>
        <LocationPicker
          label="Location"
          placeholder="Search for a location"
          data-autofocus
          openOnFocus={false}
          value={locationId}
          onChange={(id) => setLocationId(id)}
        />
        <TextInput
          label="Note"
          description="Optional. Shown in the history of the asset."
          maxLength={1000}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
        {save.isError && <ErrorAlert error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={locationId === null} loading={save.isPending}>
            Set location
          </Button>
        </Group>
      </Stack>
    </GuardedModal>
  )
}

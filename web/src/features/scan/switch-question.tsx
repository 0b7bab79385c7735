import { Alert, Button, Group, Text } from '@mantine/core'
import { counted } from '../../lib/time.ts'

/** The number of codes that belong to the current location and are not saved. */
export interface OpenCodes {
  assets: number
  waiting: number
  unknown: number
}

/** Asks before the location is changed, because the codes that were scanned before belong to the current location. */
export function SwitchQuestion({
  title,
  from,
  to,
  open: { assets, waiting, unknown },
  isSaving,
  onSave,
  onDrop,
  onKeep,
  onStay,
}: {
  title: string
  from: string
  to: string
  open: OpenCodes
  isSaving: boolean
  onSave: () => void
  onDrop: () => void
  onKeep: () => void
  onStay: () => void
}) {
  const total = assets + waiting + unknown
  const stay = (
    <Button size="xs" variant="default" onClick={onStay}>
      Stay at {from}
    </Button>
  )
  if (total === 0)
    return (
      <Alert color="blue" title={title}>
        <Group gap="xs">
          <Button size="xs" onClick={onKeep}>
            Switch to {to}
          </Button>
          {stay}
        </Group>
      </Alert>
    )
  return (
    <Alert color="yellow" title={title}>
      {assets > 0 && (
        <Text size="sm">
          {assets === 1 ? 'One asset is' : `${assets} assets are`} not saved at {from} yet.
        </Text>
      )}
      {waiting > 0 && (
        <Text size="sm">{waiting === 1 ? '1 code is' : `${waiting} codes are`} waiting for the server.</Text>
      )}
      {unknown > 0 && (
        <Text size="sm">
          {unknown === 1 ? '1 unknown code is' : `${unknown} unknown codes are`} on the list and cannot be saved.
        </Text>
      )}
      <Group gap="xs" mt="xs">
        {assets > 0 && (
          <Button size="xs" loading={isSaving} disabled={waiting > 0} onClick={onSave}>
            Save {assets} at {from}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={onDrop}>
          Discard {total}
        </Button>
        <Button size="xs" variant="default" onClick={onKeep}>
          Switch and keep {counted(total, 'scan')}
        </Button>
        {stay}
      </Group>
    </Alert>
  )
}

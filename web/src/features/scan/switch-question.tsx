import { Alert, Button, Group, Text } from '@mantine/core'
import { counted, formatNumber } from '../../lib/time.ts'

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
          {counted(assets, 'asset')} {assets === 1 ? 'is' : 'are'} not saved at {from} yet.
        </Text>
      )}
      {waiting > 0 && (
        <Text size="sm">
          {counted(waiting, 'code')} {waiting === 1 ? 'is' : 'are'} waiting for the server.
        </Text>
      )}
      {unknown > 0 && (
        <Text size="sm">
          {counted(unknown, 'unknown code')} {unknown === 1 ? 'is' : 'are'} on the list and cannot be saved.
        </Text>
      )}
      <Group gap="xs" mt="xs">
        {assets > 0 && (
          <Button size="xs" loading={isSaving} disabled={waiting > 0} onClick={onSave}>
            Save {formatNumber(assets)} at {from}
          </Button>
        )}
        <Button size="xs" variant="default" onClick={onDrop}>
          Discard {counted(total, 'code')}
        </Button>
        <Button size="xs" variant="default" onClick={onKeep}>
          Switch and keep {counted(total, 'code')}
        </Button>
        {stay}
      </Group>
    </Alert>
  )
}

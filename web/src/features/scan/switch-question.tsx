import { Alert, Button, Group, Text } from '@mantine/core'

/** Asks before another location is used: what was scanned before belongs to the current location. */
export function SwitchQuestion({
  title,
  from,
  to,
  unsavedCount,
  isSaving,
  onSave,
  onDrop,
  onKeep,
  onStay,
}: {
  title: string
  from: string
  to: string
  unsavedCount: number
  isSaving: boolean
  onSave: () => void
  onDrop: () => void
  onKeep: () => void
  onStay: () => void
}) {
  const stay = (
    <Button size="xs" variant="default" onClick={onStay}>
      Stay at {from}
    </Button>
  )
  if (unsavedCount === 0)
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
      <Text size="sm" mb="xs">
        {unsavedCount === 1 ? 'One asset is' : `${unsavedCount} assets are`} not saved at {from} yet.
      </Text>
      <Group gap="xs">
        <Button size="xs" loading={isSaving} onClick={onSave}>
          Save {unsavedCount} at {from}
        </Button>
        <Button size="xs" variant="default" onClick={onDrop}>
          Discard {unsavedCount}
        </Button>
        <Button size="xs" variant="default" onClick={onKeep}>
          Keep {unsavedCount} for {to}
        </Button>
        {stay}
      </Group>
    </Alert>
  )
}

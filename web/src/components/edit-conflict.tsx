import { Alert, Button, Group, List, Text } from '@mantine/core'
import { IconAlertTriangle } from './icons.ts'

/** Shown when another user changed the record meanwhile. The user decides which version is kept. */
export function EditConflict({
  differences,
  onTakeTheirs,
  onKeepMine,
}: {
  differences: readonly { field: string; theirs: string }[]
  onTakeTheirs: () => void
  onKeepMine: () => void
}) {
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title="Another user changed this record" role="alert">
      <Text size="sm">Your changes are not saved. The current values are:</Text>
      <List size="sm" my={6}>
        {differences.map(({ field, theirs }) => (
          <List.Item key={field}>
            {field}: <b>{theirs === '' ? 'empty' : theirs}</b>
          </List.Item>
        ))}
        {differences.length === 0 && <List.Item>the same as yours; only the time of the change differs</List.Item>}
      </List>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onTakeTheirs}>
          Use theirs
        </Button>
        <Button size="xs" onClick={onKeepMine}>
          Overwrite with mine
        </Button>
      </Group>
    </Alert>
  )
}

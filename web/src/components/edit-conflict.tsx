import { Alert, Button, Group, List, Text } from '@mantine/core'
import { ApiError } from '../api/errors.ts'
import { IconAlertTriangle } from './icons.ts'

/** The server's word for: what you loaded is no longer what is there. */
export const isStale = (error: unknown): boolean =>
  error instanceof ApiError && error.on('updated_at')?.code === 'read_only'

/** Two people edited the same record. Nobody's change is lost without being asked. */
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
    <Alert
      color="yellow"
      icon={<IconAlertTriangle size={18} />}
      title="Somebody else changed this meanwhile"
      role="alert"
    >
      <Text size="sm">Nothing was saved yet. It now says:</Text>
      <List size="sm" my={6}>
        {differences.map(({ field, theirs }) => (
          <List.Item key={field}>
            {field}: <b>{theirs === '' ? 'empty' : theirs}</b>
          </List.Item>
        ))}
        {differences.length === 0 && <List.Item>the same as your text; only the time of change differs</List.Item>}
      </List>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onTakeTheirs}>
          Show me theirs
        </Button>
        <Button size="xs" onClick={onKeepMine}>
          Save mine over it
        </Button>
      </Group>
    </Alert>
  )
}

import { Alert, Button, Group, List, Text } from '@mantine/core'
import type { FieldConflict } from '../lib/merge-changes.ts'
import { IconAlertTriangle } from './icons.ts'

function display(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'empty'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return `“${typeof value === 'string' ? value : JSON.stringify(value)}”`
}

/** Shown when another user changed the same fields meanwhile. The user decides which values are kept. */
export function EditConflict({
  conflicts,
  labels,
  onTakeTheirs,
  onKeepMine,
}: {
  conflicts: readonly FieldConflict[]
  labels: Record<string, string>
  onTakeTheirs: () => void
  onKeepMine: () => void
}) {
  const title = `Another user changed the same ${conflicts.length === 1 ? 'field' : 'fields'}`
  return (
    <Alert color="yellow" icon={<IconAlertTriangle size={18} />} title={title} role="alert">
      <Text size="sm">Your changes are not saved. All other changes, yours and theirs, are kept.</Text>
      <List size="sm" my={6}>
        {conflicts.map(({ path: [field = '', ...keys], mine, theirs }) => (
          <List.Item key={[field, ...keys].join('/')}>
            {[labels[field] ?? field, ...keys].join(' › ')}: yours {display(mine)}, theirs {display(theirs)}
          </List.Item>
        ))}
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

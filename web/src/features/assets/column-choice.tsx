import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { IconColumns } from '../../components/icons.ts'
import { optionalColumns } from './asset-columns.tsx'

export function ColumnChoice({
  hidden,
  onChange,
}: {
  hidden: readonly string[]
  onChange: (hidden: string[]) => void
}) {
  const ids = optionalColumns.map((one) => one.id)
  return (
    <Popover position="bottom-end" shadow="md">
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns size={16} />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Checkbox.Group
          label="Columns"
          value={ids.filter((id) => !hidden.includes(id))}
          onChange={(shown) => onChange(ids.filter((id) => !shown.includes(id)))}
        >
          <Stack gap={8} mt={8}>
            {optionalColumns.map(({ id, label }) => (
              <Checkbox key={id} size="xs" value={id} label={label} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  )
}

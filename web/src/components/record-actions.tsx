import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconTag, IconTrash } from './icons.ts'
import { useHasRole } from './use-session.ts'

export type RecordAction = 'edit' | 'rename' | 'delete'

/** What a manager can do with an asset or a location. */
export function RecordActions({ onOpen }: { onOpen: (action: RecordAction) => void }) {
  if (!useHasRole('manager')) return null
  return (
    <>
      <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => onOpen('edit')}>
        Edit
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label="More actions">
            <IconDots size={17} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconTag size={16} />} onClick={() => onOpen('rename')}>
            Rename the key
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => onOpen('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

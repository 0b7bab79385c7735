import { Group, Loader, Menu, Text, UnstyledButton } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { switchOrganization } from '../api/auth.ts'
import { IconBuilding, IconCheck, IconSelector } from '../components/icons.ts'
import { notifyError } from '../components/feedback.tsx'
import { useUser } from '../components/use-session.ts'
import { roleLabel } from '../lib/roles.ts'

/** The current organization; a menu for users who belong to several. */
export function OrganizationSwitch() {
  const user = useUser()
  const navigate = useNavigate()
  const switching = useMutation({
    mutationFn: switchOrganization,
    onSuccess: () => navigate({ to: '/' }),
    onError: notifyError,
  })
  const hasOthers = user.orgs.length > 1
  const label = (
    <Group gap={9} wrap="nowrap" px={8} py={6}>
      <IconBuilding size={18} />
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" fw={600} truncate>
          {user.org.name}
        </Text>
        <Text size="xs" c="dimmed">
          {roleLabel(user.role)}
        </Text>
      </div>
      {switching.isPending ? <Loader size={16} /> : hasOthers && <IconSelector size={16} />}
    </Group>
  )
  if (!hasOthers) return label
  return (
    <Menu position="top-start" width={220} shadow="md" floatingStrategy="fixed">
      <Menu.Target>
        <UnstyledButton w="100%" aria-label="Switch organization">
          {label}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Organizations</Menu.Label>
        {user.orgs.map((org) => (
          <Menu.Item
            key={org.id}
            disabled={org.id === user.org.id || switching.isPending}
            rightSection={org.id === user.org.id ? <IconCheck size={15} /> : null}
            onClick={() => switching.mutate(org.id)}
          >
            <Text size="sm" truncate>
              {org.name}
            </Text>
            <Text size="xs" c="dimmed">
              {roleLabel(org.role)}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

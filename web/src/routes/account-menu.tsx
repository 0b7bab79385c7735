import { ActionIcon, Avatar, Loader, Menu, Text, useMantineColorScheme } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { signOut } from '../api/auth.ts'
import {
  IconDeviceDesktop,
  IconExternalLink,
  IconKey,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
  IconUsers,
  IconWebhook,
} from '../components/icons.ts'
import { useHasRole, useUser } from '../components/use-session.ts'
import { roleLabel } from '../lib/roles.ts'

const schemes = [
  { value: 'light', label: 'Light', icon: IconSun },
  { value: 'dark', label: 'Dark', icon: IconMoon },
  { value: 'auto', label: 'System', icon: IconDeviceDesktop },
] as const

export function AccountMenu() {
  const user = useUser()
  const isAdmin = useHasRole('admin')
  const leaving = useMutation({ mutationFn: signOut })
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="bottom-end" width={230} shadow="md" floatingStrategy="fixed">
      <Menu.Target>
        <ActionIcon variant="transparent" size={34} aria-label="Account menu">
          <Avatar size={32} radius="xl" color="harbor" variant="filled">
            <IconUser size={18} />
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {user.email}
          </Text>
          <Text size="xs">
            {roleLabel(user.role)} in {user.org.name}
          </Text>
        </Menu.Label>
        <Menu.Item leftSection={<IconUser size={16} />} component={Link} to="/settings/account">
          Account
        </Menu.Item>
        {isAdmin && (
          <>
            <Menu.Item leftSection={<IconKey size={16} />} component={Link} to="/settings/api-keys">
              API keys
            </Menu.Item>
            <Menu.Item leftSection={<IconWebhook size={16} />} component={Link} to="/settings/webhooks">
              Webhooks
            </Menu.Item>
            <Menu.Item leftSection={<IconUsers size={16} />} component={Link} to="/settings/members">
              Members
            </Menu.Item>
          </>
        )}
        <Menu.Item leftSection={<IconExternalLink size={16} />} component="a" href="/api/docs" target="_blank">
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} />}
            closeMenuOnClick={false}
            fw={colorScheme === value ? 650 : undefined}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={leaving.isPending ? <Loader size={16} /> : <IconLogout size={16} />}
          closeMenuOnClick={false}
          disabled={leaving.isPending}
          onClick={() => leaving.mutate()}
        >
          {leaving.isPending ? 'Signing out …' : 'Sign out'}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

import { ActionIcon, AppShell, Box, Burger, Group, ScrollArea, Stack, Text, UnstyledButton } from '@mantine/core'
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { Suspense, lazy, useEffect, useState } from 'react'
import { loadCode } from '../api/connection.ts'
import { EmailConfirmationBanner } from '../components/email-confirmation-banner.tsx'
import { Logo } from '../components/logo.tsx'
import {
  IconAntenna,
  IconBox,
  IconChartBar,
  IconFileImport,
  IconKey,
  IconLayoutDashboard,
  IconMapPin,
  IconPrinter,
  IconScan,
  IconSearch,
  IconUser,
  IconUsers,
  IconWebhook,
} from '../components/icons.ts'
import { useHasRole } from '../components/use-session.ts'
import { AccountMenu } from './account-menu.tsx'
import { LiveIndicator } from './live-indicator.tsx'
import { useLiveRefresh } from './live-refresh.ts'
import { OrganizationSwitch } from './organization-switch.tsx'

const CommandPalette = lazy(() =>
  loadCode(() => import('../features/search/command-palette.tsx')).then((all) => ({ default: all.CommandPalette })),
)

const isMac = /^Mac/.test(navigator.platform)

/** Every path begins with that of the overview, whose link is active on its own page only. Parameters make no difference. */
const activeOptionsOf = (to: string) => ({ exact: to === '/', includeSearch: false })

const links = [
  { to: '/', label: 'Overview', icon: IconLayoutDashboard },
  { to: '/assets', label: 'Assets', icon: IconBox },
  { to: '/locations', label: 'Locations', icon: IconMapPin },
  { to: '/scan', label: 'Scan', icon: IconScan, role: 'operator' },
  { to: '/readers', label: 'Readers', icon: IconAntenna },
  { to: '/reports', label: 'Reports', icon: IconChartBar },
  { to: '/labels', label: 'Labels', icon: IconPrinter },
  { to: '/import', label: 'Import & export', icon: IconFileImport },
] as const

const settingLinks = [
  { to: '/settings/account', label: 'Account', icon: IconUser },
  { to: '/settings/api-keys', label: 'API keys', icon: IconKey, role: 'admin' },
  { to: '/settings/webhooks', label: 'Webhooks', icon: IconWebhook, role: 'admin' },
  { to: '/settings/members', label: 'Members', icon: IconUsers, role: 'admin' },
] as const

function Navigation({ onGo }: { onGo: () => void }) {
  const isOperator = useHasRole('operator')
  const isAdmin = useHasRole('admin')
  return (
    <Stack gap={2} component="nav" aria-label="Main">
      {links
        .filter((one) => !('role' in one) || isOperator)
        .map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} className="nav-link" activeOptions={activeOptionsOf(to)} onClick={onGo}>
            <Icon size={18} stroke={1.8} />
            {label}
          </Link>
        ))}
      <Text size="xs" fw={600} c="dimmed" px={10} pt="md" pb={4}>
        Settings
      </Text>
      {settingLinks
        .filter((one) => !('role' in one) || isAdmin)
        .map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} className="nav-link" onClick={onGo}>
            <Icon size={18} stroke={1.8} />
            {label}
          </Link>
        ))}
    </Stack>
  )
}

const bottomLinks = ['/', '/assets', '/scan', '/locations'] as const

/** On a phone, the links to the most used pages are at the lower edge of the screen. */
function BottomBar() {
  const isOperator = useHasRole('operator')
  return (
    <nav aria-label="Quick links" className="bottom-bar">
      {links
        .filter(({ to }) => (bottomLinks as readonly string[]).includes(to) && (to !== '/scan' || isOperator))
        .map(({ to, label, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            className="bottom-link"
            activeOptions={activeOptionsOf(to)}
            {...(to === '/scan' ? { 'data-main': true } : {})}
          >
            <Icon size={20} stroke={1.8} />
            {label}
          </Link>
        ))}
    </nav>
  )
}

function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <>
      <UnstyledButton
        onClick={onClick}
        visibleFrom="xs"
        style={{
          border: '1px solid var(--mantine-color-default-border)',
          borderRadius: 8,
          padding: '6px 10px',
          minWidth: 230,
          background: 'var(--mantine-color-body)',
        }}
      >
        <Group gap={8} wrap="nowrap">
          <IconSearch size={15} />
          <Text size="sm" c="dimmed" style={{ flex: 1 }}>
            Search everything
          </Text>
          <Text size="xs" c="dimmed" span>
            {isMac ? '⌘K' : 'Ctrl K'}
          </Text>
        </Group>
      </UnstyledButton>
      <ActionIcon variant="default" size="lg" hiddenFrom="xs" onClick={onClick} aria-label="Search everything">
        <IconSearch size={17} />
      </ActionIcon>
    </>
  )
}

/** The layout of the app: header, navigation and the current page. */
export function Shell() {
  useLiveRefresh()
  const [isOpen, menu] = useDisclosure()
  const [isSearching, setSearching] = useState(false)
  const [hasSearched, setSearched] = useState(false)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useEffect(() => menu.close(), [path])
  const search = (): void => {
    setSearched(true)
    setSearching(true)
  }
  // A search result leaves the page, so the search does not open over a dialog, which may contain typed input or a
  // secret.
  useHotkeys([['mod+K', () => document.querySelector('[role=dialog][aria-modal=true]') === null && search()]], [])
  return (
    <AppShell
      layout="alt"
      header={{ height: 54 }}
      footer={{ height: { base: 62, sm: 0 } }}
      navbar={{ width: 226, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
    >
      <a href="#main" className="skip">
        Skip to content
      </a>
      <AppShell.Header style={{ background: 'var(--page-surface)' }}>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger opened={isOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Menu" />
            <Box hiddenFrom="sm">
              <img src="/mark.svg" width={26} height={26} alt="Lastseen" style={{ display: 'block' }} />
            </Box>
            <SearchButton onClick={search} />
          </Group>
          <Group gap="sm" wrap="nowrap">
            <LiveIndicator />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar
        className="app-nav"
        {...(isOpen ? { 'data-open': true } : {})}
        p="sm"
        style={{ borderRight: '1px solid var(--mantine-color-default-border)' }}
      >
        <Group justify="space-between" px={6} pt={4} pb="md">
          <Logo />
          <Burger opened={isOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label="Close the menu" />
        </Group>
        <AppShell.Section grow component={ScrollArea}>
          <Navigation onGo={menu.close} />
        </AppShell.Section>
        <AppShell.Section>
          <OrganizationSwitch />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Footer hiddenFrom="sm" style={{ background: 'var(--page-surface)' }}>
        <BottomBar />
      </AppShell.Footer>
      <AppShell.Main id="main" className="app-main" tabIndex={-1}>
        <EmailConfirmationBanner />
        <Outlet />
      </AppShell.Main>
      {hasSearched && (
        <Suspense>
          <CommandPalette opened={isSearching} onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </AppShell>
  )
}

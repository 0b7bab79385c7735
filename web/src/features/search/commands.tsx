import type { SpotlightActionData } from '@mantine/spotlight'
import type { Role } from '../../api/types.ts'
import {
  IconAntenna,
  IconArrowRight,
  IconBox,
  IconFileImport,
  IconKey,
  IconLogout,
  IconMapPin,
  IconMoon,
  IconPrinter,
  IconScan,
  IconUserPlus,
  IconWebhook,
} from '../../components/icons.ts'
import { isAtLeast } from '../../lib/roles.ts'

/** A page, a setting or an action that the search finds by its label or by other words for it. */
interface Command {
  label: string
  words?: string
  role?: Role
  href: string
  icon?: typeof IconBox
}

const pages: readonly Command[] = [
  { label: 'Overview', words: 'home dashboard', href: '/' },
  { label: 'Assets', words: 'things items', href: '/assets' },
  { label: 'Locations', words: 'places sites zones', href: '/locations' },
  { label: 'Scan', words: 'stocktake inventory camera', role: 'operator', href: '/scan' },
  { label: 'Readers', words: 'devices antennas gateways', href: '/readers' },
  { label: 'Inbox', words: 'unassigned tags unregistered readers unknown', href: '/readers/inbox' },
  { label: 'Reports', words: 'history time per location flow csv', href: '/reports' },
  { label: 'Labels', words: 'print qr barcode', href: '/labels' },
  { label: 'Import & export', words: 'csv upload download', href: '/import' },
]

const settings: readonly Command[] = [
  { label: 'Account', words: 'settings quotas profile', href: '/settings/account' },
  { label: 'Change password', words: 'settings security', href: '/settings/account' },
  { label: 'API keys', words: 'settings credentials tokens', role: 'admin', href: '/settings/api-keys', icon: IconKey },
  { label: 'Webhooks', words: 'settings events', role: 'admin', href: '/settings/webhooks', icon: IconWebhook },
  { label: 'Members', words: 'settings users roles', role: 'admin', href: '/settings/members' },
]

const actions: readonly Command[] = [
  { label: 'Create asset', words: 'new add', role: 'manager', href: '/assets?create=yes', icon: IconBox },
  { label: 'Create location', words: 'new add', role: 'manager', href: '/locations?create=yes', icon: IconMapPin },
  { label: 'Create reader', words: 'new add', role: 'manager', href: '/readers?create=yes', icon: IconAntenna },
  { label: 'Import a CSV file', words: 'upload', role: 'manager', href: '/import', icon: IconFileImport },
  { label: 'Export CSV', words: 'download', href: '/import', icon: IconFileImport },
  { label: 'Print labels', words: 'qr barcode code 128', href: '/labels', icon: IconPrinter },
  {
    label: 'Invite a member',
    words: 'new add user',
    role: 'admin',
    href: '/settings/members?create=yes',
    icon: IconUserPlus,
  },
]

const matches = ({ label, words = '' }: Pick<Command, 'label' | 'words'>, q: string): boolean => {
  const text = `${label} ${words}`.toLowerCase()
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

export interface CommandContext {
  q: string
  role: Role
  /** A location to scan at: the page the user is on, or the first location found. */
  scanAt: { id: number; name: string; isFound: boolean } | null
  onGo: (href: string) => void
  onToggleTheme: () => void
  onSignOut: () => void
}

/** The pages, settings and actions that match, for users with this role. */
export function findCommands({ q, role, scanAt, onGo, onToggleTheme, onSignOut }: CommandContext) {
  const toAction = ({ label, href, icon: Icon = IconArrowRight }: Command): SpotlightActionData => ({
    id: `${label} ${href}`,
    label,
    leftSection: <Icon size={18} />,
    onClick: () => onGo(href),
  })
  const select = (commands: readonly Command[]): SpotlightActionData[] =>
    commands.filter((one) => isAtLeast(role, one.role ?? 'viewer') && matches(one, q)).map(toAction)
  const scan: Command[] =
    scanAt === null
      ? []
      : [
          {
            label: `Scan at ${scanAt.name}`,
            words: scanAt.isFound ? q : 'here',
            href: `/scan?location=${scanAt.id}`,
            icon: IconScan,
          },
        ]
  const others: (SpotlightActionData & { label: string; words: string })[] = [
    {
      id: 'theme',
      label: 'Switch between light and dark',
      words: 'theme appearance settings colour',
      leftSection: <IconMoon size={18} />,
      onClick: onToggleTheme,
    },
    {
      id: 'sign-out',
      label: 'Sign out',
      words: 'log out leave',
      leftSection: <IconLogout size={18} />,
      onClick: onSignOut,
    },
  ]
  const ownActions = others.filter((one) => matches(one, q)).map(({ words: _words, ...action }) => action)
  return [
    {
      group: 'Actions',
      actions: [
        ...select(scan.map((one) => ({ ...one, role: 'operator' }))),
        ...select(actions),
        ...(q === '' ? [] : ownActions),
      ],
    },
    { group: 'Pages', actions: select(pages) },
    { group: 'Settings', actions: select(settings) },
  ]
}

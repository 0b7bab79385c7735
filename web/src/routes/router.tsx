import { Center, Loader } from '@mantine/core'
import type { QueryClient } from '@tanstack/react-query'
import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { currentUser } from '../api/session.ts'
import { SignInPage } from '../features/auth/sign-in.tsx'
import { assetSearch, labelSearch, locationSearch, scanSearch, signInSearch } from './search-params.ts'
import { CrashPage, NotFoundPage } from './error-pages.tsx'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet })

const at = <const Path extends string>(path: Path, component: Parameters<typeof lazyRouteComponent>[0], name: string) =>
  ({ path, component: lazyRouteComponent(component, name) }) as const

/** Pages for people who are not signed in. */
const outside = [
  createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage, validateSearch: signInSearch }),
  createRoute({
    getParentRoute: () => root,
    ...at('/sign-up', () => import('../features/auth/sign-up.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...at('/forgot-password', () => import('../features/auth/forgot-password.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...at('/reset-password', () => import('../features/auth/reset-password.tsx'), 'ResetPasswordPage'),
  }),
  createRoute({ getParentRoute: () => root, ...at('/join', () => import('../features/auth/join.tsx'), 'JoinPage') }),
] as const

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
  beforeLoad: ({ location }) => {
    if (currentUser() !== null) return
    const to = location.href === '/' ? {} : { to: location.href }
    throw redirect({ to: '/sign-in', search: to })
  },
})

const parent = { getParentRoute: () => shell } as const

const inside = [
  createRoute({ ...parent, ...at('/', () => import('../features/overview/overview-page.tsx'), 'OverviewPage') }),
  createRoute({
    ...parent,
    ...at('/assets', () => import('../features/assets/assets-page.tsx'), 'AssetsPage'),
    validateSearch: assetSearch,
  }),
  createRoute({ ...parent, ...at('/assets/$assetId', () => import('../features/assets/asset-page.tsx'), 'AssetPage') }),
  createRoute({
    ...parent,
    ...at('/locations', () => import('../features/locations/locations-page.tsx'), 'LocationsPage'),
    validateSearch: locationSearch,
  }),
  createRoute({
    ...parent,
    ...at('/locations/$locationId', () => import('../features/locations/location-page.tsx'), 'LocationPage'),
  }),
  createRoute({
    ...parent,
    ...at('/scan', () => import('../features/scan/scan-page.tsx'), 'ScanPage'),
    validateSearch: scanSearch,
  }),
  createRoute({ ...parent, ...at('/readers', () => import('../features/readers/readers-page.tsx'), 'ReadersPage') }),
  createRoute({ ...parent, ...at('/readers/inbox', () => import('../features/readers/inbox-page.tsx'), 'InboxPage') }),
  createRoute({
    ...parent,
    ...at('/readers/$readerId', () => import('../features/readers/reader-page.tsx'), 'ReaderPage'),
  }),
  createRoute({
    ...parent,
    ...at('/import', () => import('../features/import-export/import-export-page.tsx'), 'ImportExportPage'),
  }),
  createRoute({
    ...parent,
    ...at('/labels', () => import('../features/labels/labels-page.tsx'), 'LabelsPage'),
    validateSearch: labelSearch,
  }),
  createRoute({ ...parent, ...at('/reports', () => import('../features/reports/reports-page.tsx'), 'ReportsPage') }),
  createRoute({
    ...parent,
    ...at('/settings/account', () => import('../features/account/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({ ...parent, ...at('/settings/api-keys', () => import('../features/keys/keys-page.tsx'), 'KeysPage') }),
  createRoute({
    ...parent,
    ...at('/settings/webhooks', () => import('../features/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    ...parent,
    ...at('/settings/members', () => import('../features/members/members-page.tsx'), 'MembersPage'),
  }),
] as const

const tree = root.addChildren([...outside, shell.addChildren([...inside])])

const Waiting = () => (
  <Center h={240}>
    <Loader size="sm" aria-label="Loading" />
  </Center>
)

export const makeRouter = (queries: QueryClient) =>
  createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: Waiting,
    defaultPendingMs: 300,
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: CrashPage,
    scrollRestoration: true,
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>
  }
}

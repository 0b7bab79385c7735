import { Center, Loader } from '@mantine/core'
import type { QueryClient } from '@tanstack/react-query'
import {
  Outlet,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from '@tanstack/react-router'
import { loadCode } from '../api/connection.ts'
import { currentUser } from '../api/session.ts'
import { SignInPage } from '../features/auth/sign-in.tsx'
import {
  assetPageSearch,
  assetSearch,
  importSearch,
  labelSearch,
  locationPageSearch,
  locationSearch,
  membersSearch,
  overviewSearch,
  pageSearch,
  readersSearch,
  reportSearch,
  scanSearch,
  signInSearch,
  unseenSearch,
} from './search-params.ts'
import { CrashPage, NotFoundPage } from './error-pages.tsx'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet })

const lazyPage = <const Path extends string>(
  path: Path,
  component: Parameters<typeof lazyRouteComponent>[0],
  name: string,
) => ({ path, component: lazyRouteComponent(() => loadCode(component), name) }) as const

/** A URL whose id is not a number leads to the page for unknown URLs. */
const requireId = (id: string): void => {
  if (!Number.isSafeInteger(Number(id)) || Number(id) <= 0) throw notFound()
}

/** Pages for users who are not signed in. */
const publicRoutes = [
  createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage, validateSearch: signInSearch }),
  createRoute({
    getParentRoute: () => root,
    ...lazyPage('/sign-up', () => import('../features/auth/sign-up.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...lazyPage('/forgot-password', () => import('../features/auth/forgot-password.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...lazyPage('/reset-password', () => import('../features/auth/reset-password.tsx'), 'ResetPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...lazyPage('/confirm-email', () => import('../features/auth/confirm-email.tsx'), 'ConfirmEmailPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    ...lazyPage('/join', () => import('../features/auth/join.tsx'), 'JoinPage'),
  }),
] as const

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: lazyRouteComponent(() => loadCode(() => import('./shell.tsx')), 'Shell'),
  beforeLoad: ({ location }) => {
    if (currentUser() !== null) return
    const to = location.href === '/' ? {} : { to: location.href }
    throw redirect({ to: '/sign-in', search: to })
  },
})

const parent = { getParentRoute: () => shell } as const

const appRoutes = [
  createRoute({
    ...parent,
    ...lazyPage('/', () => import('../features/overview/overview-page.tsx'), 'OverviewPage'),
    validateSearch: overviewSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/unseen', () => import('../features/overview/unseen-page.tsx'), 'UnseenPage'),
    validateSearch: unseenSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/assets', () => import('../features/assets/assets-page.tsx'), 'AssetsPage'),
    validateSearch: assetSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/assets/$assetId', () => import('../features/assets/asset-page.tsx'), 'AssetPage'),
    validateSearch: assetPageSearch,
    loader: ({ params }) => requireId(params.assetId),
  }),
  createRoute({
    ...parent,
    ...lazyPage('/locations', () => import('../features/locations/locations-page.tsx'), 'LocationsPage'),
    validateSearch: locationSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/locations/$locationId', () => import('../features/locations/location-page.tsx'), 'LocationPage'),
    validateSearch: locationPageSearch,
    loader: ({ params }) => requireId(params.locationId),
  }),
  createRoute({
    ...parent,
    ...lazyPage('/scan', () => import('../features/scan/scan-page.tsx'), 'ScanPage'),
    validateSearch: scanSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/readers', () => import('../features/readers/readers-page.tsx'), 'ReadersPage'),
    validateSearch: readersSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/readers/inbox', () => import('../features/readers/inbox-page.tsx'), 'InboxPage'),
    validateSearch: pageSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/readers/$readerId', () => import('../features/readers/reader-page.tsx'), 'ReaderPage'),
    loader: ({ params }) => requireId(params.readerId),
  }),
  createRoute({
    ...parent,
    ...lazyPage('/import', () => import('../features/import-export/import-export-page.tsx'), 'ImportExportPage'),
    validateSearch: importSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/labels', () => import('../features/labels/labels-page.tsx'), 'LabelsPage'),
    validateSearch: labelSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/reports', () => import('../features/reports/reports-page.tsx'), 'ReportsPage'),
    validateSearch: reportSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/settings/account', () => import('../features/account/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    ...parent,
    ...lazyPage('/settings/api-keys', () => import('../features/keys/keys-page.tsx'), 'KeysPage'),
    validateSearch: pageSearch,
  }),
  createRoute({
    ...parent,
    ...lazyPage('/settings/webhooks', () => import('../features/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    ...parent,
    ...lazyPage('/settings/members', () => import('../features/members/members-page.tsx'), 'MembersPage'),
    validateSearch: membersSearch,
  }),
] as const

const routeTree = root.addChildren([...publicRoutes, shell.addChildren([...appRoutes])])

const PendingPage = () => (
  <Center h={240} role="status" aria-label="Loading">
    <Loader size="sm" />
  </Center>
)

export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: PendingPage,
    defaultPendingMs: 300,
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: CrashPage,
    scrollRestoration: true,
    // A parameter that the parser of the page does not return is not used, and is removed from the URL.
    search: { strict: true },
  })

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}

import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import { LastseenError } from '../../client/src/errors.ts'
import { currentUser, onSessionChange } from './api/session.ts'
import { ConnectionBanner } from './components/connection-banner.tsx'
import { createAppRouter } from './routes/router.tsx'
import { theme, variables } from './theme.ts'

const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof LastseenError && error.status < 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: shouldRetry, staleTime: 15_000, refetchOnWindowFocus: true },
    // A change that the user makes while the server is away fails at once instead of being sent later.
    mutations: { retry: false, networkMode: 'always' },
  },
})

const router = createAppRouter(queries)

/** Clears all cached data when the user signs out or switches to another organization. */
function useSessionReset(): void {
  useEffect(() => {
    let previous = `${currentUser()?.id ?? ''}/${currentUser()?.org.id ?? ''}`
    return onSessionChange(() => {
      const next = `${currentUser()?.id ?? ''}/${currentUser()?.org.id ?? ''}`
      if (next === previous) return
      previous = next
      queries.clear()
      void router.invalidate()
    })
  }, [])
}

export function App({ styleNonce }: { styleNonce: string }) {
  useSessionReset()
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <QueryClientProvider client={queries}>
        <Notifications position="bottom-right" limit={5} />
        <RouterProvider router={router} />
        <ConnectionBanner />
      </QueryClientProvider>
    </MantineProvider>
  )
}

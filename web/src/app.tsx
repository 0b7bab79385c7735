import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from './api/errors.ts'
import { currentUser, onSessionChange } from './api/session.ts'
import { makeRouter } from './routes/router.tsx'
import { theme, variables } from './theme.ts'

const isWorthAnotherTry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof ApiError && error.status < 500)

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthAnotherTry, staleTime: 15_000, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
})

const router = makeRouter(queries)

/** Whoever signs out, or goes to another organization, leaves nothing behind on the screen. */
function useSessionReset(): void {
  useEffect(() => {
    let seen = `${currentUser()?.id ?? ''}/${currentUser()?.org.id ?? ''}`
    return onSessionChange(() => {
      const next = `${currentUser()?.id ?? ''}/${currentUser()?.org.id ?? ''}`
      if (next === seen) return
      seen = next
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
        <Notifications position="bottom-right" limit={4} />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

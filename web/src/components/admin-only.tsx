import type { ReactNode } from 'react'
import { EmptyState } from './empty-state.tsx'
import { IconLock } from './icons.ts'
import { Page } from './page.tsx'
import { useHasRole, useUser } from './use-session.ts'

/** Says who may see a page to whoever may not. The server refuses them in any case. */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  const isAdmin = useHasRole('admin')
  const { role, org } = useUser()
  if (isAdmin) return <>{children}</>
  return (
    <Page title={title}>
      <EmptyState icon={<IconLock size={22} />} title="Only admins can do this">
        You are {role} in {org.name}. An admin can change that under Members.
      </EmptyState>
    </Page>
  )
}

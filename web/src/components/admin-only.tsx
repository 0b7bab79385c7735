import type { ReactNode } from 'react'
import { EmptyState } from './empty-state.tsx'
import { IconLock } from './icons.ts'
import { Page } from './page.tsx'
import { useHasRole, useUser } from './use-session.ts'
import { roleLabel } from '../lib/roles.ts'

/** Shows the page to admins and an explanation to all other roles. The server enforces the permission. */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  const isAdmin = useHasRole('admin')
  const { role, org } = useUser()
  if (isAdmin) return <>{children}</>
  return (
    <Page title={title}>
      <EmptyState icon={<IconLock size={22} />} title="Only admins can open this page">
        Your role in {org.name} is {roleLabel(role)}. An admin can change that under Members.
      </EmptyState>
    </Page>
  )
}

import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Page } from './page.tsx'
import { ErrorAlert } from './feedback.tsx'

/** The page of a record that could not be fetched: what was looked for, what happened, and the way back to the list. */
export function RecordErrorPage({
  what,
  list,
  error,
  onRetry,
}: {
  what: string
  list: { to: '/assets' | '/locations' | '/readers'; label: string }
  error: unknown
  onRetry: () => void
}) {
  return (
    <Page
      title={what}
      above={
        <Anchor size="sm" c="dimmed" renderRoot={(props) => <Link to={list.to} {...props} />}>
          {list.label}
        </Anchor>
      }
    >
      <ErrorAlert error={error} onRetry={onRetry} />
    </Page>
  )
}

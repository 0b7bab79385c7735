import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Page } from './page.tsx'
import { ErrorAlert } from './feedback.tsx'

/** The page of a record that could not be loaded, with a link back to the list. */
export function RecordErrorPage({
  recordType,
  list,
  error,
  onRetry,
}: {
  recordType: string
  list: { to: '/assets' | '/locations' | '/readers'; label: string }
  error: unknown
  onRetry: () => void
}) {
  return (
    <Page
      title={recordType}
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

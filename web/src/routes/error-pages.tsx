import { Anchor, Box, Button, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { OutdatedPageError, reloadOutdatedPage } from '../api/connection.ts'
import { EmptyState } from '../components/empty-state.tsx'
import { IconMapPin } from '../components/icons.ts'
import { ErrorAlert } from '../components/feedback.tsx'

export function NotFoundPage() {
  useDocumentTitle('Not found · Lastseen')
  return (
    <Box className="app-page">
      <EmptyState icon={<IconMapPin size={24} />} title="Page not found" isPage>
        The URL may be outdated or mistyped.{' '}
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/" {...props} />}>
          Go to the overview
        </Anchor>
      </EmptyState>
    </Box>
  )
}

/** Shown when a page fails to render. After a deployment, the page is reloaded instead: the files of its build are gone. */
export function CrashPage({ error }: { error: unknown }) {
  const [isReloading] = useState(() => error instanceof OutdatedPageError && reloadOutdatedPage(error))
  if (isReloading) return null
  return (
    <Box className="app-page">
      <Title order={1} mb="md">
        This page could not be shown
      </Title>
      <ErrorAlert error={error} />
      <Button mt="md" variant="default" onClick={() => window.location.reload()}>
        Reload the page
      </Button>
    </Box>
  )
}

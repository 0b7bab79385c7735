import { Anchor, Box, Button, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { IconMapPin } from '../components/icons.ts'
import { ErrorAlert } from '../components/feedback.tsx'

export function NotFoundPage() {
  useDocumentTitle('Not found · Lastseen')
  return (
    <Box className="app-page">
      <EmptyState icon={<IconMapPin size={24} />} title="There is no such page" isPage>
        The address may be old or mistyped.{' '}
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/" {...props} />}>
          Go to the overview
        </Anchor>
      </EmptyState>
    </Box>
  )
}

/** Something in the page itself failed; most often a new version was installed and old parts of the page are gone. */
export function CrashPage({ error }: { error: unknown }) {
  return (
    <Box className="app-page">
      <Title order={1} mb="md">
        This page broke
      </Title>
      <ErrorAlert error={error} />
      <Button mt="md" variant="default" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Box>
  )
}

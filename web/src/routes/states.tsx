import { Anchor, Box, Button, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { Empty } from '../components/empty.tsx'
import { IconMapPin } from '../components/icons.ts'
import { Problem } from '../components/problem.tsx'

export function NotFoundPage() {
  useDocumentTitle('Not found · Lastseen')
  return (
    <Box className="app-page">
      <Empty icon={<IconMapPin size={24} />} title="There is no such page" isPage>
        The address may be old or mistyped.{' '}
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/" {...props} />}>
          Go to the overview
        </Anchor>
      </Empty>
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
      <Problem error={error} />
      <Button mt="md" variant="default" onClick={() => window.location.reload()}>
        Load the page again
      </Button>
    </Box>
  )
}

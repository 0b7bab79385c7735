import { Paper, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Logo } from '../../components/logo.tsx'

/** The layout of the pages for users who are not signed in. */
export function AuthPage({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  useDocumentTitle(`${title} · Lastseen`)
  return (
    <main className="auth-page">
      <Stack className="auth-card" gap="lg">
        <Logo size={32} />
        <Paper p="xl" radius="lg">
          <Stack gap="md">
            <div>
              <Title order={1}>{title}</Title>
              {lead !== undefined && (
                <Text c="dimmed" size="sm" mt={4} component="div">
                  {lead}
                </Text>
              )}
            </div>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </main>
  )
}

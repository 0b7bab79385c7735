import { Box, Group, Paper, type PaperProps, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

/**
 * A page with its heading and its actions. There are two kinds: lists and records use the whole width, forms and settings
 * are narrower. Both begin at the same left edge.
 */
export function Page({
  title,
  documentTitle,
  lead,
  actions,
  above,
  kind = 'list',
  children,
}: {
  title: ReactNode
  documentTitle?: string
  lead?: ReactNode
  actions?: ReactNode
  above?: ReactNode
  kind?: 'list' | 'form'
  children: ReactNode
}) {
  useDocumentTitle(`${documentTitle ?? (typeof title === 'string' ? title : 'Lastseen')} · Lastseen`)
  return (
    <Box className="app-page">
      <Box className={kind === 'form' ? 'app-page-form' : ''}>
        {above}
        <Group justify="space-between" align="flex-start" mb="md" gap="sm">
          <Box style={{ flex: '1 1 260px', minWidth: 0 }}>
            <Title order={1}>{title}</Title>
            {lead !== undefined && (
              <Text c="dimmed" size="sm" mt={3} component="div">
                {lead}
              </Text>
            )}
          </Box>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Box>
    </Box>
  )
}

export function Card({
  title,
  aside,
  children,
  ...rest
}: { title?: ReactNode; aside?: ReactNode; children: ReactNode } & PaperProps) {
  return (
    <Paper p="md" component="section" {...rest}>
      {title !== undefined && (
        <Group justify="space-between" mb="sm" gap="xs" wrap="nowrap">
          <Title order={2}>{title}</Title>
          {aside}
        </Group>
      )}
      {children}
    </Paper>
  )
}

/** A label with its value below. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack gap={1} style={{ minWidth: 0 }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Stack>
  )
}

import { Center, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/** Shown when there is nothing to list: says why, and what the user can do. */
export function EmptyState({
  icon,
  title,
  isPage = false,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
  /** The page has no other content, so the title becomes its heading. */
  isPage?: boolean
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <Center py={44} px="md">
      <Stack align="center" gap={8} maw={440} ta="center">
        {icon !== undefined && (
          <ThemeIcon size={44} radius="xl" variant="light" mb={4}>
            {icon}
          </ThemeIcon>
        )}
        {isPage ? <Title order={1}>{title}</Title> : <Text fw={600}>{title}</Text>}
        {children !== undefined && (
          <Text size="sm" c="dimmed" component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  )
}

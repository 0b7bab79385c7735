import { Center, Stack, Text, ThemeIcon } from '@mantine/core'
import type { ReactNode } from 'react'

/** Nothing here yet: says why, and what to do about it. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
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
        <Text fw={600}>{title}</Text>
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

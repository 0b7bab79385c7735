import { Skeleton, Stack } from '@mantine/core'

/** The shape of a list before it is there. */
export function Lines({ rows = 6, height = 34 }: { rows?: number; height?: number }) {
  return (
    <Stack gap={8} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={height} radius="sm" />
      ))}
    </Stack>
  )
}

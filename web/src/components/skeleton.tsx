import { Skeleton as MantineSkeleton, Stack } from '@mantine/core'

/** Placeholder rows while a list is loading. */
export function Skeleton({ rows = 6, height = 34 }: { rows?: number; height?: number }) {
  return (
    <Stack gap={8} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <MantineSkeleton key={index} height={height} radius="sm" />
      ))}
    </Stack>
  )
}

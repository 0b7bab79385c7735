import { Box, Group, Text, Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { liveState, subscribeToLiveState } from '../api/live.ts'

const appearance = {
  live: { color: 'var(--mark-line)', label: 'Live', description: 'Moves appear as they happen' },
  connecting: {
    color: 'var(--mantine-color-yellow-6)',
    label: 'Connecting',
    description: 'Connecting to the live stream',
  },
  broken: { color: 'var(--mantine-color-red-6)', label: 'Not live', description: 'No connection; reconnecting' },
} as const

/** Shows whether the live stream is connected. */
export function LiveIndicator() {
  const state = useSyncExternalStore(subscribeToLiveState, liveState)
  const { color, label, description } = appearance[state]
  return (
    <Tooltip label={description}>
      <Group gap={6} wrap="nowrap" role="status" aria-live="off" data-live={state}>
        <Box w={8} h={8} style={{ borderRadius: 4, background: color }} />
        <Text size="xs" c="dimmed">
          {label}
        </Text>
      </Group>
    </Tooltip>
  )
}

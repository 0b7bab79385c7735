import { Box, Group, Text, Tooltip } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { liveState, subscribeToLiveState } from '../api/live.ts'

const looks = {
  live: { color: 'var(--mark-line)', label: 'Live', words: 'Moves appear as they happen' },
  connecting: { color: 'var(--mantine-color-yellow-6)', label: 'Connecting', words: 'Connecting to the live stream' },
  broken: { color: 'var(--mantine-color-red-6)', label: 'Not live', words: 'No connection; trying again' },
} as const

/** Says whether what is shown is up to date. */
export function LiveIndicator() {
  const state = useSyncExternalStore(subscribeToLiveState, liveState)
  const { color, label, words } = looks[state]
  return (
    <Tooltip label={words}>
      <Group gap={6} wrap="nowrap" role="status" aria-live="off" data-live={state}>
        <Box w={8} h={8} style={{ borderRadius: 4, background: color }} />
        <Text size="xs" c="dimmed">
          {label}
        </Text>
      </Group>
    </Tooltip>
  )
}

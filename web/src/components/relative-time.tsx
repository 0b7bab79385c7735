import { Text, Tooltip } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { ago, exactDateTime, timeZone } from '../lib/time.ts'

/** A relative time, with the exact time in the user's time zone in a tooltip. */
export function RelativeTime({ at, fallback = 'never' }: { at: string | null | undefined; fallback?: string }) {
  const [, setTick] = useState(0)
  useInterval(() => setTick((tick) => tick + 1), 20_000, { autoInvoke: true })
  if (at === null || at === undefined)
    return (
      <Text span inherit c="dimmed">
        {fallback}
      </Text>
    )
  return (
    <Tooltip label={`${exactDateTime(at)} (${timeZone})`} events={{ hover: true, focus: true, touch: true }}>
      <Text span inherit component="time" dateTime={at} className="number" style={{ whiteSpace: 'nowrap' }}>
        {ago(at)}
      </Text>
    </Tooltip>
  )
}

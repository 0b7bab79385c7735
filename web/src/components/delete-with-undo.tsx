import { Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { delayDeletion, getPendingIds, onPendingChange, undoSeconds } from '../lib/delayed-deletion.ts'
import { notifyError } from './feedback.tsx'

/** The ids of the records that are about to be deleted, or were just deleted; lists hide them. */
export const usePendingDeletions = (): ReadonlySet<number> => useSyncExternalStore(onPendingChange, getPendingIds)

interface WaitingDeletion {
  what: string
  /** In milliseconds. */
  started: number
  onUndo: () => void
  onNow: () => void
}

const toastId = 'deletions'
let waiting: readonly WaitingDeletion[] = []

/**
 * All deletions share one message: the number of messages is limited, and a deletion without a visible message could not
 * be undone.
 */
function setWaiting(next: readonly WaitingDeletion[]): void {
  const message = (
    <Stack gap="xs" mah="40dvh" style={{ overflowY: 'auto' }}>
      {next.map((one) => (
        <Countdown key={`${one.started} ${one.what}`} {...one} />
      ))}
    </Stack>
  )
  const toast = { id: toastId, autoClose: false, withCloseButton: false, message } as const
  if (next.length === 0) notifications.hide(toastId)
  else if (waiting.length === 0) notifications.show(toast)
  else notifications.update(toast)
  waiting = next
}

function Countdown({ what, started, onUndo, onNow }: WaitingDeletion) {
  const [seconds, setSeconds] = useState(undoSeconds)
  useEffect(() => {
    const timer = setInterval(() => setSeconds(undoSeconds - Math.floor((Date.now() - started) / 1000)), 250)
    return () => clearInterval(timer)
  }, [started])
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {what} will be deleted in <span className="number">{Math.max(0, seconds)} s</span>.
      </Text>
      <Group gap={6} wrap="nowrap">
        <Button size="compact-sm" variant="light" onClick={onUndo}>
          Undo
        </Button>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={onNow}>
          Delete now
        </Button>
      </Group>
    </Group>
  )
}

/** Deletes records after 30 seconds, and shows the time left with a button that keeps them. */
export function deleteWithUndo(
  what: string,
  ids: readonly number[],
  remove: (id: number) => Promise<void>,
  /** Loads the lists again; the records stay hidden until then. */
  refresh: () => Promise<unknown>,
): void {
  const send = async (): Promise<readonly number[]> => {
    setWaiting(waiting.filter((one) => one !== deletion))
    // All requests are started at once: a page that is being left has no time for a second one.
    const results = await Promise.allSettled(ids.map(remove))
    const failed = results.find((one) => one.status === 'rejected')
    if (failed !== undefined) notifyError(failed.reason)
    await refresh().catch(notifyError)
    return ids.filter((_, index) => results[index]!.status === 'fulfilled')
  }
  const { undo, sendNow } = delayDeletion(ids, send)
  const deletion: WaitingDeletion = {
    what,
    started: Date.now(),
    onNow: sendNow,
    onUndo: () => {
      undo()
      setWaiting(waiting.filter((one) => one !== deletion))
    },
  }
  setWaiting([...waiting, deletion])
}

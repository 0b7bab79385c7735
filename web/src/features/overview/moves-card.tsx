import { Box, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, useEffect, useRef, useState } from 'react'
import { subscribeToLive } from '../../api/live.ts'
import { latestMoves } from '../../api/overview.ts'
import type { Move } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useListInUse } from '../../components/use-list-in-use.ts'

const maxMoves = 40

/** Moves received since the page was opened, newest first. */
function useLiveMoves(): readonly Move[] {
  const [liveMoves, setLiveMoves] = useState<readonly Move[]>([])
  useEffect(
    () =>
      subscribeToLive((events) => {
        const moves = events.flatMap((event) => (event.kind === 'move' ? [event.move] : [])).reverse()
        if (moves.length > 0) setLiveMoves((old) => [...moves, ...old].slice(0, maxMoves))
      }),
    [],
  )
  return liveMoves
}

/** Memoized: a row does not change when new moves arrive above it. */
const MoveRow = memo(function MoveRow({ move, isNew }: { move: Move; isNew: boolean }) {
  return (
    <div className="move-row" data-new={isNew ? '' : undefined}>
      <Box style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm">
          <AssetLink id={move.asset.id} name={move.asset.name} />
        </Text>
        <Text size="xs" c="dimmed">
          {move.from_location !== null && (
            <>
              <LocationLink id={move.from_location.id} name={move.from_location.name} /> →{' '}
            </>
          )}
          <LocationLink id={move.to_location.id} name={move.to_location.name} />
        </Text>
      </Box>
      <Text size="xs" c="dimmed">
        <RelativeTime at={move.occurred_at} />
      </Text>
    </div>
  )
})

/** While the list is paused, it keeps its moves, so that nothing shifts under the pointer. */
function usePausable(all: readonly Move[], isPaused: boolean) {
  const [kept, setKept] = useState<readonly Move[] | null>(null)
  if (isPaused && kept === null) setKept(all)
  if (!isPaused && kept !== null) setKept(null)
  const shown = isPaused && kept !== null ? kept : all
  const shownIds = new Set(shown.map((one) => one.delivery_id))
  return { shown, waiting: all.filter((one) => !shownIds.has(one.delivery_id)).length, showAll: () => setKept(all) }
}

const waitingText = (count: number): string =>
  `${count >= maxMoves ? `${maxMoves}+` : count} new ${count === 1 ? 'move' : 'moves'}`

export function MovesCard() {
  const liveMoves = useLiveMoves()
  const earlier = useQuery(latestMoves(maxMoves))
  if (earlier.data !== undefined) return <Moves liveMoves={liveMoves} earlier={earlier.data} />
  return (
    <Card title="Moves" className="moves-card">
      <Box className="moves-list">
        <QueryView query={earlier} rows={10}>
          {() => null}
        </QueryView>
      </Box>
    </Card>
  )
}

function Moves({ liveMoves, earlier }: { liveMoves: readonly Move[]; earlier: readonly Move[] }) {
  const { isInUse, handlers } = useListInUse()
  const [isScrolled, setScrolled] = useState(false)
  const known = new Set(liveMoves.map((one) => one.delivery_id))
  const all = [...liveMoves, ...earlier.filter((one) => !known.has(one.delivery_id))].slice(0, maxMoves)
  const isPaused = isInUse || isScrolled
  const { shown, waiting, showAll } = usePausable(all, isPaused)
  const list = useRef<HTMLDivElement>(null)
  return (
    <Card
      {...handlers}
      title="Moves"
      className="moves-card"
      aside={
        <Box h={22}>
          {waiting > 0 ? (
            <Button
              size="compact-xs"
              variant="light"
              miw={112}
              onClick={() => {
                showAll()
                list.current?.scrollTo({ top: 0 })
              }}
            >
              {waitingText(waiting)}
            </Button>
          ) : (
            <Text size="xs" c="dimmed">
              {isPaused ? 'paused' : 'live'}
            </Text>
          )}
        </Box>
      }
    >
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed" className="moves-list">
          Nothing has moved yet. A move appears when an asset is seen at a different location than before.
        </Text>
      ) : (
        <Box
          ref={list}
          className="moves-list"
          tabIndex={0}
          role="log"
          aria-label="Moves"
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > 0)}
        >
          {shown.map((move) => (
            <MoveRow key={move.delivery_id} move={move} isNew={known.has(move.delivery_id)} />
          ))}
          {shown.length >= maxMoves && (
            <Text size="xs" c="dimmed" pt={7}>
              The latest {maxMoves} moves. The page of a location lists all arrivals and departures there.
            </Text>
          )}
        </Box>
      )}
    </Card>
  )
}

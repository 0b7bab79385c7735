import { Box, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { memo, useEffect, useState } from 'react'
import { subscribeToLive } from '../../api/live.ts'
import { recentMoves } from '../../api/overview.ts'
import type { Move } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'

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

export function MovesCard() {
  const liveMoves = useLiveMoves()
  const earlier = useQuery(recentMoves({ limit: maxMoves }))
  const known = new Set(liveMoves.map((one) => one.delivery_id))
  return (
    <Card
      title="Moves"
      aside={
        <Text size="xs" c="dimmed">
          live
        </Text>
      }
    >
      <QueryView query={earlier} rows={6}>
        {({ data }) => {
          const all = [...liveMoves, ...data.filter((one) => !known.has(one.delivery_id))].slice(0, maxMoves)
          if (all.length === 0)
            return (
              <Text size="sm" c="dimmed">
                Nothing has moved yet. A move appears when an asset is seen at a different location than before.
              </Text>
            )
          return (
            <Box mah={430} style={{ overflowY: 'auto' }} tabIndex={0} role="log" aria-label="Moves">
              {all.map((move) => (
                <MoveRow key={move.delivery_id} move={move} isNew={known.has(move.delivery_id)} />
              ))}
            </Box>
          )
        }}
      </QueryView>
    </Card>
  )
}

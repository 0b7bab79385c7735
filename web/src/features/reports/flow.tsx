import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getOne } from '../../api/client.ts'
import type { Flow } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useWidth } from '../../components/use-width.ts'
import { count } from '../../lib/time.ts'
import { ribbons } from './ribbons.ts'
import { usePeriod } from './period.tsx'

const shown = 24
const colors = ['#0f8f82', '#3d7bbd', '#b26a1f', '#8a5cb8', '#b2456e', '#5d7f2b', '#2f8aa3', '#8b6b4a']

function Picture({ flows }: { flows: readonly Flow[] }) {
  const [ref, width] = useWidth()
  const isNarrow = width < 520
  const gutter = isNarrow ? 92 : 170
  const { sources, targets, bands, height } = ribbons(flows)
  const left = gutter
  const right = Math.max(left + 40, width - gutter)
  const middle = (left + right) / 2
  const name = (text: string): string => {
    const most = Math.floor(gutter / 7.2)
    return text.length > most ? `${text.slice(0, most - 1)}…` : text
  }
  return (
    <div
      ref={ref}
      role="img"
      aria-label={`Moves between places; the most: ${flows[0]?.from_name ?? 'first seen'} to ${flows[0]?.to_name ?? ''}`}
    >
      <svg className="timeline-chart" height={height} viewBox={`0 0 ${Math.max(width, 1)} ${height}`}>
        {bands.map((band) => (
          <path
            key={`${band.source}-${band.target}`}
            d={`M${left + 8} ${band.y1}C${middle} ${band.y1} ${middle} ${band.y2} ${right - 8} ${band.y2}`}
            stroke={colors[band.source % colors.length]}
            strokeWidth={Math.max(1.2, band.size)}
            strokeOpacity={0.42}
            fill="none"
          >
            <title>{`${band.title}: ${count(band.moves)}`}</title>
          </path>
        ))}
        {sources.map((node, index) => (
          <g key={node.key}>
            <rect x={left} y={node.y} width={8} height={node.size} rx={2} fill={colors[index % colors.length]} />
            <text
              x={left - 6}
              y={node.y + node.size / 2 + 4}
              fontSize={12}
              textAnchor="end"
              fill="var(--mantine-color-text)"
            >
              {name(node.name)}
            </text>
          </g>
        ))}
        {targets.map((node) => (
          <g key={node.key}>
            <rect x={right - 8} y={node.y} width={8} height={node.size} rx={2} fill="#6a7b81" />
            <text x={right + 6} y={node.y + node.size / 2 + 4} fontSize={12} fill="var(--mantine-color-text)">
              {name(node.name)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  )
}

export function FlowReport() {
  const { period, control } = usePeriod(7)
  const flow = useQuery({
    queryKey: ['reports', 'flow', period],
    queryFn: ({ signal }) => getOne<Flow[]>('/reports/flow', { ...period }, signal),
  })
  return (
    <Card>
      {control}
      <QueryView query={flow}>
        {(data) => {
          const most = data.toSorted((a, b) => b.moves - a.moves).slice(0, shown)
          if (most.length === 0)
            return (
              <Text size="sm" c="dimmed">
                Nothing moved in this time.
              </Text>
            )
          return (
            <>
              <Picture flows={most} />
              <Text size="xs" c="dimmed" mt="xs">
                From the left to the right; the wider, the more moves.
                {data.length > shown && ` The ${shown} busiest of ${count(data.length)} ways.`}
              </Text>
            </>
          )
        }}
      </QueryView>
    </Card>
  )
}

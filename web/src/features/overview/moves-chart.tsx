import { Box, SegmentedControl, Tooltip, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { moveCounts } from '../../api/overview.ts'
import type { MoveCount } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useWidth } from '../../components/use-width.ts'
import { countTicks, timeTicks } from '../../lib/ticks.ts'
import { clockTime, counted, dateTime, dayAndMonth, formatNumber, longDate } from '../../lib/time.ts'

const views = [
  { value: '1', label: 'Day' },
  { value: '7', label: 'Week' },
  { value: '30', label: 'Month' },
]

const axisWidth = 46
const labelWidth = 64
const [topHeight, plotHeight, bottomHeight] = [10, 146, 24]
const chartHeight = topHeight + plotHeight + bottomHeight

interface Bar {
  at: number
  moves: number
}

/** One bar per local hour of the last 24 hours, or per local day. The last bar is the current hour or day. */
function barsOf(counts: readonly MoveCount[], days: number, now = new Date()): Bar[] {
  const startOf = (index: number): number =>
    days === 1
      ? new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() - index).getTime()
      : new Date(now.getFullYear(), now.getMonth(), now.getDate() - index).getTime()
  const bars = Array.from({ length: days === 1 ? 24 : days }, (_, index, all = days === 1 ? 24 : days) => ({
    at: startOf(all - 1 - index),
    moves: 0,
  }))
  for (const { at, moves } of counts) {
    const bar = bars.findLast((one) => one.at <= Date.parse(at))
    if (bar !== undefined) bar.moves += moves
  }
  return bars
}

/** The number of moves over time. The URL holds the period. */
export function MovesChart() {
  const { days = 1 } = useSearch({ from: '/shell/' })
  const navigate = useNavigate({ from: '/' })
  const setDays = (next: string): void =>
    void navigate({ search: next === '1' ? {} : { days: Number(next) }, replace: true, resetScroll: false })
  const counts = useQuery(moveCounts(days + 1))
  return (
    <Card
      title="Moves over time"
      aside={
        <SegmentedControl size="xs" aria-label="Time range" value={String(days)} onChange={setDays} data={views} />
      }
    >
      {/* The card has the same height while the moves are counted. */}
      <Box mih={chartHeight}>
        <QueryView query={counts} rows={3}>
          {(data) => <Chart bars={barsOf(data, days)} days={days} />}
        </QueryView>
      </Box>
    </Card>
  )
}

function Chart({ bars, days }: { bars: readonly Bar[]; days: number }) {
  const [ref, width] = useWidth()
  const plotWidth = Math.max(1, width - axisWidth)
  const step = plotWidth / bars.length
  const { times } = timeTicks(bars[0]!.at, bars.at(-1)!.at, Math.floor(plotWidth / labelWidth))
  const counts = countTicks(Math.max(...bars.map((bar) => bar.moves)))
  const total = bars.reduce((sum, bar) => sum + bar.moves, 0)
  const y = (count: number): number => topHeight + plotHeight * (1 - count / counts.at(-1)!)
  const middle = (index: number): number => axisWidth + (index + 0.5) * step
  return (
    <div ref={ref}>
      <VisuallyHidden>
        {counted(total, 'move')} in the last {days === 1 ? '24 hours' : `${days} days`}
      </VisuallyHidden>
      <svg className="chart" height={chartHeight} viewBox={`0 0 ${Math.max(width, 1)} ${chartHeight}`} aria-hidden>
        <g data-axis="count">
          {counts.map((count) => (
            <g key={count}>
              <line x1={axisWidth} x2={width} y1={y(count)} y2={y(count)} className="chart-grid" />
              <text x={axisWidth - 8} y={y(count) + 4} textAnchor="end">
                {formatNumber(count)}
              </text>
            </g>
          ))}
        </g>
        <g data-axis="time">
          {bars.map(
            ({ at }, index) =>
              times.includes(at) && (
                <text key={at} x={labelPosition(middle(index), width)} y={chartHeight - 6} textAnchor="middle">
                  {days === 1 ? clockTime(at) : dayAndMonth(at)}
                </text>
              ),
          )}
        </g>
        {bars.map(({ at, moves }, index) => (
          <Tooltip.Floating key={at} label={`${days === 1 ? dateTime(at) : longDate(at)}: ${counted(moves, 'move')}`}>
            <g>
              <rect x={axisWidth + index * step} y={topHeight} width={step} height={plotHeight} fill="transparent" />
              <rect
                x={axisWidth + index * step + step * 0.12}
                y={y(moves)}
                width={step * 0.76}
                height={topHeight + plotHeight - y(moves)}
                rx={2}
                className="chart-bar"
              />
            </g>
          </Tooltip.Floating>
        ))}
      </svg>
    </div>
  )
}

/** The middle of a label that stays within the chart. */
const labelPosition = (x: number, width: number): number => Math.min(x, width - labelWidth / 2)

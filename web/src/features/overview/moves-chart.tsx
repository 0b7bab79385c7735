import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { SegmentedControl, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { moveCounts } from '../../api/overview.ts'
import type { MoveCount } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useWidth } from '../../components/use-width.ts'
import { countTicks, timeTicks } from '../../lib/ticks.ts'
import { clockTime, dateTime, dayAndMonth, formatNumber, longDate } from '../../lib/time.ts'

const views = [
  { value: '1', label: 'Day' },
  { value: '7', label: 'Week' },
  { value: '30', label: 'Month' },
]

const axisWidth = 46
const labelWidth = 64

interface Bar {
  at: number
  Moves: number
}

/** One bar per local hour of the last 24 hours, or per local day. The last bar is the current hour or day. */
function barsOf(counts: readonly MoveCount[], days: number, now = new Date()): Bar[] {
  const startOf = (index: number): number =>
    days === 1
      ? new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() - index).getTime()
      : new Date(now.getFullYear(), now.getMonth(), now.getDate() - index).getTime()
  const bars = Array.from({ length: days === 1 ? 24 : days }, (_, index, all = days === 1 ? 24 : days) => ({
    at: startOf(all - 1 - index),
    Moves: 0,
  }))
  for (const { at, moves } of counts) {
    const bar = bars.findLast((one) => one.at <= Date.parse(at))
    if (bar !== undefined) bar.Moves += moves
  }
  return bars
}

/** The number of moves over time. Loaded on demand: the chart library is the largest part of the app. */
export default function MovesChart() {
  const [view, setView] = useState('1')
  const days = Number(view)
  const counts = useQuery(moveCounts(days + 1))
  return (
    <Card
      title="Moves over time"
      aside={<SegmentedControl size="xs" aria-label="Time range" value={view} onChange={setView} data={views} />}
    >
      <QueryView query={counts} rows={3}>
        {(data) => <Chart bars={barsOf(data, days)} days={days} />}
      </QueryView>
    </Card>
  )
}

function Chart({ bars, days }: { bars: readonly Bar[]; days: number }) {
  const [ref, width] = useWidth()
  const maxLabels = Math.floor((width - axisWidth) / labelWidth)
  const { times } = timeTicks(bars[0]!.at, bars.at(-1)!.at, maxLabels)
  const yTicks = countTicks(Math.max(...bars.map((bar) => bar.Moves)))
  const total = bars.reduce((sum, bar) => sum + bar.Moves, 0)
  return (
    <div ref={ref}>
      <VisuallyHidden>
        {formatNumber(total)} moves in the last {days === 1 ? '24 hours' : `${days} days`}
      </VisuallyHidden>
      <BarChart
        h={180}
        aria-hidden
        data={[...bars]}
        dataKey="at"
        series={[{ name: 'Moves', color: 'harbor.6' }]}
        tickLine="none"
        gridAxis="x"
        barProps={{ radius: 2, isAnimationActive: false }}
        xAxisProps={{ ticks: times, interval: 0, tickFormatter: days === 1 ? clockTime : dayAndMonth }}
        yAxisProps={{ width: axisWidth, ticks: yTicks, domain: [0, yTicks.at(-1)!], interval: 0 }}
        tooltipProps={{
          // Without an active bar, the label is undefined.
          labelFormatter: (at) => (typeof at !== 'number' ? '' : days === 1 ? dateTime(at) : longDate(at)),
        }}
        valueFormatter={formatNumber}
        barChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}

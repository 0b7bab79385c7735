import '@mantine/charts/styles.css'
import { BarChart } from '@mantine/charts'
import { clockTime, dateTime } from '../../lib/time.ts'

/** Moves of the last 24 hours. Loaded on demand: the chart library is the largest part of the app. */
export default function MovesChart({ hours }: { hours: readonly { hour: string; moves: number }[] }) {
  return (
    <BarChart
      h={150}
      data={hours.map(({ hour, moves }) => ({ hour: clockTime(hour), full: dateTime(hour), Moves: moves }))}
      dataKey="hour"
      series={[{ name: 'Moves', color: 'harbor.6' }]}
      tickLine="none"
      gridAxis="none"
      barProps={{ radius: 2, isAnimationActive: false }}
      xAxisProps={{ interval: 'preserveStartEnd', minTickGap: 28 }}
      yAxisProps={{ width: 46, allowDecimals: false, interval: 0, tickCount: 4 }}
      barChartProps={{ accessibilityLayer: false }}
    />
  )
}

import { Text, Tooltip } from '@mantine/core'
import { useWidth } from '../../components/use-width.ts'
import { clockTime, dateTime, duration } from '../../lib/time.ts'
import type { Stay } from './merge-history.ts'

const laneHeight = 26
const axisHeight = 22
const colors = ['#0f8f82', '#3d7bbd', '#b26a1f', '#8a5cb8', '#b2456e', '#5d7f2b', '#2f8aa3', '#8b6b4a']

/** The stays of an asset over time, with one lane per location. */
export function Timeline({
  stays,
  from,
  to,
  nameOf,
}: {
  stays: readonly Stay[]
  from: number
  to: number
  nameOf: (stay: Stay) => string
}) {
  const [ref, width] = useWidth()
  const lanes = [...new Map(stays.map((stay) => [String(stay.locationId), nameOf(stay)]))]
  const gutter = width < 520 ? 92 : 150
  const x = (at: number): number =>
    gutter + ((Math.max(from, at) - from) / (to - from)) * Math.max(0, width - gutter - 8)
  const ticks = Array.from(
    { length: width < 520 ? 3 : 6 },
    (_, index, all = width < 520 ? 3 : 6) => from + ((to - from) * index) / all,
  )
  const isLong = to - from > 36 * 3_600_000
  const height = lanes.length * laneHeight + axisHeight
  return (
    <div ref={ref} role="img" aria-label={`Where it was: ${lanes.map(([, name]) => name).join(', ')}`}>
      <svg className="timeline-chart" height={height} viewBox={`0 0 ${Math.max(width, 1)} ${height}`}>
        {ticks.map((at) => (
          <g key={at}>
            <line x1={x(at)} x2={x(at)} y1={0} y2={height - axisHeight} stroke="var(--mantine-color-default-border)" />
            <text x={x(at)} y={height - 6} fontSize={11} fill="var(--mantine-color-dimmed)">
              {isLong ? dateTime(at).replace(/,? \d{4}/, '') : clockTime(at)}
            </text>
          </g>
        ))}
        {lanes.map(([key, name], row) => (
          <g key={key}>
            <text x={0} y={row * laneHeight + 17} fontSize={12} fill="var(--mantine-color-text)">
              {name.length > gutter / 7 ? `${name.slice(0, Math.floor(gutter / 7) - 1)}…` : name}
            </text>
            {stays
              .filter((stay) => String(stay.locationId) === key && stay.to > from)
              .map((stay) => (
                <Tooltip.Floating
                  key={stay.from}
                  label={
                    <Text size="xs">
                      {name}: {dateTime(stay.from)}, {stay.isCurrent ? 'for' : 'stayed'}{' '}
                      {duration((stay.to - stay.from) / 1000)}
                    </Text>
                  }
                >
                  <rect
                    x={x(stay.from)}
                    y={row * laneHeight + 5}
                    width={Math.max(3, x(stay.to) - x(stay.from))}
                    height={laneHeight - 10}
                    rx={3}
                    fill={stay.locationId === null ? '#7d8b90' : colors[row % colors.length]}
                  />
                </Tooltip.Floating>
              ))}
          </g>
        ))}
      </svg>
    </div>
  )
}

import { Tooltip } from '@mantine/core'
import type { Stay } from '../../api/types.ts'
import { useWidth } from '../../components/use-width.ts'
import { timeTicks } from '../../lib/ticks.ts'
import { clockTime, dayAndMonth } from '../../lib/time.ts'

const barHeight = 34
const axisHeight = 24
const labelWidth = 64
const letterWidth = 7.4

/** The beginning of a text that fits into a width; empty when less than three letters fit. */
function fitting(text: string, width: number): string {
  const letters = Math.floor((width - 12) / letterWidth)
  if (text.length <= letters) return text
  return letters < 4 ? '' : `${text.slice(0, letters - 1)}…`
}

/** The stays of an asset over time as one bar, each part with the name of its location. */
export function Timeline({
  stays,
  from,
  to,
  nameOf,
  describe,
}: {
  stays: readonly Stay[]
  from: number
  to: number
  nameOf: (stay: Stay) => string
  describe: (stay: Stay) => string
}) {
  const [ref, width] = useWidth()
  const x = (at: number): number => ((Math.min(to, Math.max(from, at)) - from) / (to - from)) * width
  const { times, areDays } = timeTicks(from, to, Math.floor(width / labelWidth))
  const height = barHeight + axisHeight
  const isMidnight = (at: number): boolean => new Date(at).getHours() === 0 && new Date(at).getMinutes() === 0
  const names = [...new Set(stays.toReversed().map(nameOf))]
  return (
    <div ref={ref} role="img" aria-label={`Locations: ${names.join(', ')}`}>
      <svg className="timeline-chart" height={height} viewBox={`0 0 ${Math.max(width, 1)} ${height}`}>
        {times.map((at) => (
          <g key={at} data-axis="time">
            <line x1={x(at)} x2={x(at)} y1={0} y2={barHeight + 5} stroke="var(--mantine-color-default-border)" />
            <text
              x={x(at)}
              y={height - 5}
              fontSize={11}
              fill="var(--mantine-color-dimmed)"
              textAnchor={x(at) < labelWidth / 2 ? 'start' : x(at) > width - labelWidth / 2 ? 'end' : 'middle'}
            >
              {areDays || isMidnight(at) ? dayAndMonth(at) : clockTime(at)}
            </text>
          </g>
        ))}
        {stays.map((stay) => {
          const left = x(Date.parse(stay.began_at))
          const right = stay.ended_at === null ? x(to) : x(Date.parse(stay.ended_at))
          const barWidth = Math.max(2, right - left - 1)
          return (
            <Tooltip.Floating key={stay.began_at} label={describe(stay)}>
              <g>
                <rect
                  x={left}
                  y={0}
                  width={barWidth}
                  height={barHeight}
                  rx={3}
                  fill={stay.location_id === null ? 'var(--timeline-unknown)' : 'var(--timeline-stay)'}
                />
                <text x={left + 6} y={barHeight / 2 + 4} fontSize={12} fill="#fff" pointerEvents="none">
                  {fitting(nameOf(stay), barWidth)}
                </text>
              </g>
            </Tooltip.Floating>
          )
        })}
      </svg>
    </div>
  )
}

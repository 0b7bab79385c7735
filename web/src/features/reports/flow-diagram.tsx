import { Tooltip } from '@mantine/core'
import { useLocationPath } from '../../api/overview.ts'
import type { Flow } from '../../api/types.ts'
import { useWidth } from '../../components/use-width.ts'
import { fitText, textMeasure } from '../../lib/fit-text.ts'
import { formatNumber } from '../../lib/time.ts'
import { type Node, labelHeight, linkPath, nodeWidth, sankeyLayout } from './sankey.ts'

const colors = ['#0f8f82', '#3d7bbd', '#b26a1f', '#8a5cb8', '#b2456e', '#5d7f2b', '#2f8aa3', '#8b6b4a']
const labelSize = 12
/** The distance between a label and its node. */
const labelGap = 6
/** The labels of one side use at most this part of the width. */
const maxLabelShare = 0.34

export const fromName = (flow: Flow): string => flow.from_name ?? 'First seen'

/** The name of a location after that of the location above it, if another location of the diagram has the same name. */
function useDiagramName(flows: readonly Flow[]): (id: number | null) => string {
  const pathOf = useLocationPath()
  const names = new Map<number | null, string>(
    flows.flatMap((flow) => [
      [flow.from_location_id, fromName(flow)] as const,
      [flow.to_location_id, flow.to_name] as const,
    ]),
  )
  const all = [...names.values()]
  const isAmbiguous = (name: string): boolean => all.filter((one) => one === name).length > 1
  return (id) => {
    const name = names.get(id) ?? ''
    const parent = id === null ? '' : (pathOf(id).split(' / ').at(-1) ?? '')
    return isAmbiguous(name) && parent !== '' ? `${parent} / ${name}` : name
  }
}

const colorOf = ({ isSource, index = 0 }: Node): string | undefined =>
  isSource ? colors[index % colors.length] : '#6a7b81'

/** A bar with its name. A shortened name is shown whole under the pointer and with the keyboard focus. */
function NodeWithLabel({ node, name, label }: { node: Node; name: string; label: string }) {
  const { isSource, x0 = 0, x1 = 0, y0 = 0, y1 = 0, value = 0 } = node
  const description = `${isSource ? 'From' : 'To'} ${name}: ${formatNumber(value)} ${value === 1 ? 'move' : 'moves'}`
  return (
    <Tooltip label={description} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
      <g className="flow-node" role="img" aria-label={description} {...(label === name ? {} : { tabIndex: 0 })}>
        <rect x={x0} y={y0} width={nodeWidth} height={Math.max(2, y1 - y0)} rx={2} fill={colorOf(node)} />
        <text
          x={isSource ? x0 - labelGap : x1 + labelGap}
          y={(y0 + y1) / 2 + 4}
          fontSize={labelSize}
          textAnchor={isSource ? 'end' : 'start'}
          fill="var(--mantine-color-text)"
        >
          {label}
        </text>
      </g>
    </Tooltip>
  )
}

/** Flows between locations, from left to right. */
export function FlowDiagram({ flows }: { flows: readonly Flow[] }) {
  const [ref, width] = useWidth()
  const nameOf = useDiagramName(flows)
  const [busiest] = flows
  const measure = textMeasure(labelSize)
  const labelOf = (id: number | null): string => fitText(nameOf(id), width * maxLabelShare - labelGap, measure)
  const widest = (ids: readonly (number | null)[]): number =>
    Math.ceil(Math.max(...ids.map((id) => measure(labelOf(id))))) + labelGap
  const left = widest(flows.map((flow) => flow.from_location_id))
  const right = widest(flows.map((flow) => flow.to_location_id))
  const { nodes, links, height } = sankeyLayout(flows, [left, Math.max(left + 2 * nodeWidth, width - right)])
  return (
    <div ref={ref}>
      <div
        role="group"
        aria-label={`Moves between locations; the largest flow: ${busiest === undefined ? '' : `${nameOf(busiest.from_location_id)} to ${nameOf(busiest.to_location_id)}`}`}
      >
        {width > 0 && (
          // The labels of the first and the last node can be higher than their nodes.
          <svg
            className="chart"
            height={height + labelHeight}
            viewBox={`0 ${-labelHeight / 2} ${width} ${height + labelHeight}`}
          >
            {links.map((link) => (
              <path
                key={link.index}
                d={linkPath(link) ?? ''}
                stroke={typeof link.source === 'object' ? colorOf(link.source) : undefined}
                strokeWidth={Math.max(1.2, link.width ?? 0)}
                strokeOpacity={0.42}
                fill="none"
              >
                <title>{`${nameOf(link.flow.from_location_id)} → ${nameOf(link.flow.to_location_id)}: ${formatNumber(link.flow.moves)}`}</title>
              </path>
            ))}
            {nodes.map((node) => (
              <NodeWithLabel key={node.key} node={node} name={nameOf(node.id)} label={labelOf(node.id)} />
            ))}
          </svg>
        )}
      </div>
    </div>
  )
}

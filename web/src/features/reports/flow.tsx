import { Table, Text, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Sankey, type SankeyLinkProps, type SankeyNodeProps } from 'recharts'
import { getOne } from '../../api/request.ts'
import type { Flow } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useWidth } from '../../components/use-width.ts'
import { formatNumber } from '../../lib/time.ts'
import { usePeriod } from './period.tsx'
import { sankeyData } from './sankey.ts'

const maxFlows = 24
const colors = ['#0f8f82', '#3d7bbd', '#b26a1f', '#8a5cb8', '#b2456e', '#5d7f2b', '#2f8aa3', '#8b6b4a']
const nodeWidth = 8
const nodePadding = 16

function Diagram({ flows }: { flows: readonly Flow[] }) {
  const [ref, width] = useWidth()
  const gutter = width < 520 ? 92 : 170
  const { nodes, links, sources } = sankeyData(flows)
  const rows = Math.max(sources, nodes.length - sources)
  const shorten = (text: string): string => {
    const maxLength = Math.floor(gutter / 7.2)
    return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  }
  const node = ({ x, y, height, index, payload }: SankeyNodeProps) => {
    const isSource = index < sources
    return (
      <g>
        <rect
          x={x}
          y={y}
          width={nodeWidth}
          height={Math.max(2, height)}
          rx={2}
          fill={isSource ? colors[index % colors.length] : '#6a7b81'}
        />
        <text
          x={isSource ? x - 6 : x + nodeWidth + 6}
          y={y + height / 2 + 4}
          fontSize={12}
          textAnchor={isSource ? 'end' : 'start'}
          fill="var(--mantine-color-text)"
        >
          {shorten(payload.name ?? '')}
        </text>
      </g>
    )
  }
  const link = ({
    sourceX,
    sourceY,
    sourceControlX,
    targetX,
    targetY,
    targetControlX,
    linkWidth,
    index,
  }: SankeyLinkProps) => (
    <path
      d={`M${sourceX} ${sourceY}C${sourceControlX} ${sourceY} ${targetControlX} ${targetY} ${targetX} ${targetY}`}
      stroke={colors[links[index]!.source % colors.length]}
      strokeWidth={Math.max(1.2, linkWidth)}
      strokeOpacity={0.42}
      fill="none"
    >
      <title>{`${nodes[links[index]!.source]!.name} → ${nodes[links[index]!.target]!.name}: ${formatNumber(links[index]!.value)}`}</title>
    </path>
  )
  return (
    <div ref={ref}>
      <div
        role="img"
        aria-label={`Moves between locations; the largest flow: ${flows[0]?.from_name ?? 'first seen'} to ${flows[0]?.to_name ?? ''}`}
      >
        {width > 0 && (
          <Sankey
            width={width}
            height={320 + (rows - 1) * nodePadding}
            margin={{ top: 8, bottom: 8, left: gutter, right: gutter }}
            data={{ nodes, links }}
            nodeWidth={nodeWidth}
            nodePadding={nodePadding}
            node={node}
            link={link}
          />
        )}
      </div>
      <VisuallyHidden>
        <Table aria-label="Moves between locations">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>From</Table.Th>
              <Table.Th>To</Table.Th>
              <Table.Th>Moves</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {links.map(({ source, target, value }) => (
              <Table.Tr key={`${source}-${target}`}>
                <Table.Td>{nodes[source]!.name}</Table.Td>
                <Table.Td>{nodes[target]!.name}</Table.Td>
                <Table.Td>{formatNumber(value)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </VisuallyHidden>
    </div>
  )
}

export function FlowReport() {
  const { period, control } = usePeriod()
  const flow = useQuery({
    queryKey: ['reports', 'flow', period],
    queryFn: ({ signal }) => getOne<Flow[]>('/reports/flow', { ...period }, signal),
  })
  return (
    <Card>
      {control}
      <QueryView query={flow}>
        {(data) => {
          const busiest = data.toSorted((a, b) => b.moves - a.moves).slice(0, maxFlows)
          if (busiest.length === 0)
            return (
              <Text size="sm" c="dimmed">
                No moves in this period.
              </Text>
            )
          return (
            <>
              <Diagram flows={busiest} />
              <Text size="xs" c="dimmed" mt="xs">
                Moves go from left to right. The width shows the number of moves.
                {data.length > maxFlows && ` The ${maxFlows} busiest of ${formatNumber(data.length)} flows.`}
              </Text>
            </>
          )
        }}
      </QueryView>
    </Card>
  )
}

import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { Sankey, type SankeyLinkProps, type SankeyNodeProps } from 'recharts'
import { getOne } from '../../api/request.ts'
import type { Flow } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { useWidth } from '../../components/use-width.ts'
import { saveCsv } from '../../lib/csv.ts'
import { formatNumber } from '../../lib/time.ts'
import { usePeriod } from './period.tsx'
import { SaveCsvButton, sorted, useNameFilter, useRollUp } from './roll-up.tsx'
import { sankeyData } from './sankey.ts'
import { useReportSearch } from './use-report-search.ts'

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
    </div>
  )
}

const fromName = (flow: Flow): string => flow.from_name ?? 'First seen'

const keyOf = {
  from: fromName,
  to: (flow: Flow) => flow.to_name,
  moves: (flow: Flow) => flow.moves,
}

const columns: ColumnDef<Flow>[] = [
  {
    id: 'from',
    header: 'From',
    enableSorting: true,
    accessorFn: keyOf.from,
    cell: ({ row: { original } }) =>
      original.from_location_id === null ? (
        fromName(original)
      ) : (
        <LocationLink id={original.from_location_id} name={original.from_name} />
      ),
  },
  {
    id: 'to',
    header: 'To',
    enableSorting: true,
    accessorFn: keyOf.to,
    cell: ({ row: { original } }) => <LocationLink id={original.to_location_id} name={original.to_name} />,
  },
  {
    id: 'moves',
    header: 'Moves',
    enableSorting: true,
    accessorFn: keyOf.moves,
    meta: { align: 'right' },
    cell: ({ row: { original } }) => <span className="number">{formatNumber(original.moves)}</span>,
  },
]

/** How often assets moved between locations, or between groups of locations: a diagram and the figures. */
export function FlowReport() {
  const { period, control: periodControl } = usePeriod()
  const { level, control: levelControl } = useRollUp()
  const { matches, control: filterControl } = useNameFilter()
  const [{ sort = '-moves' }, change] = useReportSearch()
  const flow = useQuery({
    queryKey: ['reports', 'flow', period, level],
    queryFn: ({ signal }) => getOne<Flow[]>('/reports/flow', { ...period, ...level }, signal),
    enabled: level !== null,
  })
  const rows = sorted(
    (flow.data ?? []).filter((one) => matches(fromName(one), one.to_name)),
    sort,
    keyOf,
  )
  const save = (): void =>
    saveCsv(
      'flow.csv',
      ['from', 'to', 'moves'],
      rows.map((one) => [fromName(one), one.to_name, one.moves]),
    )
  return (
    <Card>
      {periodControl}
      <Group gap="xs" mb="sm" align="flex-end">
        {levelControl}
        {filterControl}
        <SaveCsvButton onSave={save} disabled={rows.length === 0} />
      </Group>
      <QueryView query={flow}>
        {() => {
          const busiest = rows.toSorted((a, b) => b.moves - a.moves).slice(0, maxFlows)
          if (busiest.length === 0)
            return (
              <Text size="sm" c="dimmed">
                No moves in this period.
              </Text>
            )
          return (
            <>
              <Diagram flows={busiest} />
              <Text size="xs" c="dimmed" my="xs">
                Moves go from left to right. The width shows the number of moves.
                {rows.length > maxFlows && ` The ${maxFlows} busiest of ${formatNumber(rows.length)} flows.`}
              </Text>
              <DataTable
                label="Moves between locations"
                columns={columns}
                rows={rows}
                rowKey={(one) => `${String(one.from_location_id)}-${one.to_location_id}`}
                sort={sort}
                onSort={(next) => change({ sort: next ?? sort.replace(/^-/, '') })}
              />
            </>
          )
        }}
      </QueryView>
    </Card>
  )
}

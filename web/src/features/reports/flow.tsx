import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { useLocationCounts, useLocationPath } from '../../api/overview.ts'
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
import { NoMatch, ReportControls, SaveCsvButton, sorted, useNameFilter, useRollUp } from './roll-up.tsx'
import { type Node, linkPath, nodeWidth, sankeyLayout } from './sankey.ts'
import { useReportSearch } from './use-report-search.ts'

const maxFlows = 24
/** The server returns at most this many flows. */
const maxRows = 1000
const colors = ['#0f8f82', '#3d7bbd', '#b26a1f', '#8a5cb8', '#b2456e', '#5d7f2b', '#2f8aa3', '#8b6b4a']
const letterWidth = 7.2

const fromName = (flow: Flow): string => flow.from_name ?? 'First seen'

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

function Diagram({ flows }: { flows: readonly Flow[] }) {
  const [ref, width] = useWidth()
  const nameOf = useDiagramName(flows)
  const gutter = width < 520 ? 92 : 170
  const { nodes, links, height } = sankeyLayout(flows, [gutter, Math.max(gutter + 2 * nodeWidth, width - gutter)])
  const shorten = (text: string): string => {
    const maxLength = Math.floor(gutter / letterWidth)
    return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  }
  const colorOf = ({ isSource, index = 0 }: Node): string | undefined =>
    isSource ? colors[index % colors.length] : '#6a7b81'
  const [busiest] = flows
  return (
    <div ref={ref}>
      <div
        role="img"
        aria-label={`Moves between locations; the largest flow: ${busiest === undefined ? '' : `${nameOf(busiest.from_location_id)} to ${nameOf(busiest.to_location_id)}`}`}
      >
        {width > 0 && (
          <svg className="chart" height={height} viewBox={`0 -8 ${width} ${height + 16}`}>
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
            {nodes.map((node) => {
              const { key, id, isSource, x0 = 0, x1 = 0, y0 = 0, y1 = 0 } = node
              return (
                <g key={key}>
                  <rect x={x0} y={y0} width={nodeWidth} height={Math.max(2, y1 - y0)} rx={2} fill={colorOf(node)} />
                  <text
                    x={isSource ? x0 - 6 : x1 + 6}
                    y={(y0 + y1) / 2 + 4}
                    fontSize={12}
                    textAnchor={isSource ? 'end' : 'start'}
                    fill="var(--mantine-color-text)"
                  >
                    {shorten(nameOf(id))}
                  </text>
                </g>
              )
            })}
          </svg>
        )}
      </div>
    </div>
  )
}

const keyOf = {
  from: fromName,
  to: (flow: Flow) => flow.to_name,
  moves: (flow: Flow) => flow.moves,
}

function Place({ id, name, path }: { id: number; name: string; path: string }) {
  return (
    <>
      <LocationLink id={id} name={name} />
      <Text size="xs" c="dimmed">
        {path}
      </Text>
    </>
  )
}

const columns = (pathOf: (id: number) => string): ColumnDef<Flow>[] => [
  {
    id: 'from',
    header: 'From',
    enableSorting: true,
    accessorFn: keyOf.from,
    cell: ({ row: { original } }) =>
      original.from_location_id === null ? (
        fromName(original)
      ) : (
        <Place id={original.from_location_id} name={fromName(original)} path={pathOf(original.from_location_id)} />
      ),
  },
  {
    id: 'to',
    header: 'To',
    enableSorting: true,
    accessorFn: keyOf.to,
    cell: ({ row: { original } }) => (
      <Place id={original.to_location_id} name={original.to_name} path={pathOf(original.to_location_id)} />
    ),
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
  const counts = useLocationCounts()
  const locationPath = useLocationPath()
  const pathOf = (id: number | null): string => (id === null ? '' : locationPath(id))
  const keyOfLocation = (id: number | null): string => (id === null ? '' : (counts.get(id)?.external_key ?? ''))
  const flow = useQuery({
    queryKey: ['reports', 'flow', period, level],
    queryFn: ({ signal }) => getOne<Flow[]>('/reports/flow', { ...period, ...level }, signal),
    enabled: level !== null,
  })
  const rows = sorted(
    (flow.data ?? []).filter((one) =>
      matches(fromName(one), one.to_name, pathOf(one.from_location_id), pathOf(one.to_location_id)),
    ),
    sort,
    keyOf,
  )
  const save = (): void =>
    saveCsv(
      'flow.csv',
      ['from_key', 'from', 'from_path', 'to_key', 'to', 'to_path', 'moves'],
      rows.map((one) => [
        ...[keyOfLocation(one.from_location_id), fromName(one), pathOf(one.from_location_id)],
        ...[keyOfLocation(one.to_location_id), one.to_name, pathOf(one.to_location_id), one.moves],
      ]),
    )
  return (
    <Card>
      {periodControl}
      <ReportControls>
        {levelControl}
        {filterControl}
        <SaveCsvButton onSave={save} disabled={rows.length === 0} />
      </ReportControls>
      <QueryView query={flow}>
        {(all) => {
          const busiest = rows.toSorted((a, b) => b.moves - a.moves).slice(0, maxFlows)
          if (busiest.length === 0)
            return (
              <Text size="sm" c="dimmed">
                {all.length === 0 ? 'No moves in this period.' : <NoMatch />}
              </Text>
            )
          return (
            <>
              <Diagram flows={busiest} />
              <Text size="xs" c="dimmed" my="xs">
                Moves go from left to right. The width shows the number of moves.
                {rows.length > maxFlows && ` The ${maxFlows} busiest of ${formatNumber(rows.length)} flows.`}
                {all.length >= maxRows &&
                  ` The table and the CSV have the ${formatNumber(maxRows)} busiest flows of this period; choose a shorter period or a higher level for the others.`}
              </Text>
              <DataTable
                label="Moves between locations"
                columns={columns(locationPath)}
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

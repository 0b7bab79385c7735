import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { useLocationCounts, useLocationPath } from '../../api/overview.ts'
import { getOne } from '../../api/request.ts'
import type { Flow } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { saveCsv } from '../../lib/csv.ts'
import { formatNumber } from '../../lib/time.ts'
import { FlowDiagram, fromName } from './flow-diagram.tsx'
import { LocationWithPath } from './location-with-path.tsx'
import { usePeriod } from './period.tsx'
import {
  NoRows,
  ReportControls,
  SaveCsvButton,
  partOf,
  sorted,
  useNameFilter,
  useReportSort,
  useRollUp,
} from './roll-up.tsx'

const maxFlows = 24

const keyOf = {
  from: fromName,
  to: (flow: Flow) => flow.to_name,
  moves: (flow: Flow) => flow.moves,
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
        <LocationWithPath
          id={original.from_location_id}
          name={fromName(original)}
          path={pathOf(original.from_location_id)}
        />
      ),
  },
  {
    id: 'to',
    header: 'To',
    enableSorting: true,
    accessorFn: keyOf.to,
    cell: ({ row: { original } }) => (
      <LocationWithPath id={original.to_location_id} name={original.to_name} path={pathOf(original.to_location_id)} />
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
  const order = useReportSort('-moves')
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
    order.sort,
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
          if (busiest.length === 0) return <NoRows all={all} none="No moves in this period." />
          return (
            <>
              <FlowDiagram flows={busiest} />
              <Text size="xs" c="dimmed" my="xs">
                Moves go from left to right. The width shows the number of moves.
                {rows.length > maxFlows && ` The ${maxFlows} busiest of ${formatNumber(rows.length)} flows.`}
                {partOf(
                  all,
                  'busiest flows of this period',
                  'choose a shorter period or a higher level for the others',
                )}
              </Text>
              <DataTable
                label="Moves between locations"
                columns={columns(locationPath)}
                rows={rows}
                rowKey={(one) => `${String(one.from_location_id)}-${one.to_location_id}`}
                {...order}
              />
            </>
          )
        }}
      </QueryView>
    </Card>
  )
}

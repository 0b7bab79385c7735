import { Box, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { useLocationPath } from '../../api/overview.ts'
import { getOne } from '../../api/request.ts'
import type { Dwell } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { saveCsv } from '../../lib/csv.ts'
import { counted, duration, formatNumber } from '../../lib/time.ts'
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

const averageOf = (row: Dwell): number => (row.visits === 0 ? 0 : row.minutes / row.visits)

const keyOf = {
  location: (row: Dwell) => row.name,
  minutes: (row: Dwell) => row.minutes,
  average: averageOf,
  visits: (row: Dwell) => row.visits,
  assets: (row: Dwell) => row.assets,
}

const number = (header: string, id: 'visits' | 'assets'): ColumnDef<Dwell> => ({
  id,
  header,
  enableSorting: true,
  accessorFn: keyOf[id],
  meta: { align: 'right', from: 'md' },
  cell: ({ row: { original } }) => <span className="number">{formatNumber(original[id])}</span>,
})

const columns = (maxMinutes: number, pathOf: (id: number) => string): ColumnDef<Dwell>[] => [
  {
    id: 'location',
    header: 'Location',
    enableSorting: true,
    accessorFn: keyOf.location,
    cell: ({ row: { original } }) => (
      <LocationWithPath id={original.location_id} name={original.name} path={pathOf(original.location_id)} />
    ),
  },
  {
    id: 'minutes',
    header: 'Total time',
    enableSorting: true,
    accessorFn: keyOf.minutes,
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" className="number">
          {duration(original.minutes * 60)}
        </Text>
        <Box className="bar" aria-hidden>
          <div style={{ width: `${(original.minutes / maxMinutes) * 100}%` }} />
        </Box>
        <Text size="xs" c="dimmed" className="number" hiddenFrom="md">
          {counted(original.visits, 'visit')} by {counted(original.assets, 'asset')}
        </Text>
      </>
    ),
  },
  {
    id: 'average',
    header: 'Average visit',
    enableSorting: true,
    accessorFn: keyOf.average,
    meta: { align: 'right', from: 'xs' },
    cell: ({ row: { original } }) => <span className="number">{duration(averageOf(original) * 60)}</span>,
  },
  number('Visits', 'visits'),
  number('Assets', 'assets'),
]

/** How long assets stayed at each location, or at each group of locations. */
export function DwellReport() {
  const { period, control: periodControl } = usePeriod()
  const { level, control: levelControl } = useRollUp()
  const { matches, control: filterControl } = useNameFilter()
  const order = useReportSort('-minutes')
  const pathOf = useLocationPath()
  const dwell = useQuery({
    queryKey: ['reports', 'dwell', period, level],
    queryFn: ({ signal }) => getOne<Dwell[]>('/reports/dwell', { ...period, ...level }, signal),
    enabled: level !== null,
  })
  const rows = sorted(
    (dwell.data ?? []).filter((row) => matches(row.name, pathOf(row.location_id))),
    order.sort,
    keyOf,
  )
  const save = (): void =>
    saveCsv(
      'time-per-location.csv',
      ['location_key', 'location', 'path', 'total_minutes', 'average_minutes', 'visits', 'assets'],
      rows.map((row) => [
        ...[row.external_key ?? '', row.name, pathOf(row.location_id)],
        ...[row.minutes, Math.round(averageOf(row) * 10) / 10, row.visits, row.assets],
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
      <QueryView query={dwell}>
        {(all) => (
          <>
            <DataTable
              label="Time per location"
              columns={columns(Math.max(1, ...rows.map((row) => row.minutes)), pathOf)}
              rows={rows}
              rowKey={(row) => String(row.location_id)}
              {...order}
              empty={<NoRows all={all} none="No sightings in this period." />}
            />
            <Text size="xs" c="dimmed">
              {partOf(all, 'locations with the longest time', 'choose a higher level for the others')}
            </Text>
          </>
        )}
      </QueryView>
    </Card>
  )
}

import { Box, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { useLocationPath } from '../../api/overview.ts'
import { getOne } from '../../api/request.ts'
import type { AssetsPerLocation } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { saveCsv } from '../../lib/csv.ts'
import { formatNumber, counted } from '../../lib/time.ts'
import { LocationWithPath } from './location-with-path.tsx'
import {
  NoRows,
  ReportControls,
  SaveCsvButton,
  sorted,
  useNameFilter,
  useReportSort,
  partOf,
  isPart,
} from './roll-up.tsx'

const keyOf = {
  location: (row: AssetsPerLocation) => row.name ?? '',
  assets: (row: AssetsPerLocation) => row.assets,
}

const columns = (total: number, pathOf: (id: number | null) => string): ColumnDef<AssetsPerLocation>[] => [
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
    id: 'assets',
    header: 'Assets',
    enableSorting: true,
    accessorFn: keyOf.assets,
    cell: ({ row: { original } }) => (
      <>
        <Text size="sm" className="number">
          {formatNumber(original.assets)}
        </Text>
        <Box className="bar" aria-hidden>
          <div style={{ width: `${(original.assets / total) * 100}%` }} />
        </Box>
      </>
    ),
  },
  {
    id: 'share',
    header: 'Share',
    meta: { align: 'right', from: 'xs' },
    cell: ({ row: { original } }) => (
      <span className="number">{formatNumber(Math.round((original.assets / total) * 1000) / 10)} %</span>
    ),
  },
]

/** How many assets were at each location, or at each group of locations, at an instant. */
export function AssetsPerLocationReport({
  at,
  level,
  controls,
}: {
  at: string
  /** Null until the level is known. */
  level: { level?: number } | null
  /** The controls of the time and the level. */
  controls: ReactNode
}) {
  const { matches, control: filterControl } = useNameFilter()
  const order = useReportSort('-assets')
  const locationPath = useLocationPath()
  const pathOf = (id: number | null): string => (id === null ? '' : locationPath(id))
  const counts = useQuery({
    queryKey: ['reports', 'assets-per-location', at, level],
    queryFn: ({ signal }) => getOne<AssetsPerLocation[]>('/reports/assets-per-location', { at, ...level }, signal),
    enabled: level !== null,
  })
  const rows = sorted(
    (counts.data ?? []).filter((row) => matches(row.name, pathOf(row.location_id))),
    order.sort,
    keyOf,
  )
  const sumOf = (some: readonly AssetsPerLocation[]): number => some.reduce((sum, row) => sum + row.assets, 0)
  // The shares are those of all assets that the server has counted, also while the locations are filtered.
  const [shown, total] = [sumOf(rows), sumOf(counts.data ?? [])]
  const save = (): void =>
    saveCsv(
      'assets-per-location.csv',
      ['location_key', 'location', 'path', 'assets'],
      rows.map((row) => [row.external_key ?? '', row.name ?? '', pathOf(row.location_id), row.assets]),
    )
  return (
    <>
      <ReportControls>
        {controls}
        {filterControl}
        <SaveCsvButton onSave={save} disabled={rows.length === 0} />
      </ReportControls>
      <QueryView query={counts}>
        {(all) => (
          <>
            <DataTable
              label="Assets per location"
              columns={columns(Math.max(1, total), pathOf)}
              rows={rows}
              rowKey={(row) => String(row.location_id)}
              {...order}
              empty={<NoRows all={all} none="No asset had been seen by that time." />}
            />
            {rows.length > 0 && (
              <Text size="xs" c="dimmed" className="number" mt="sm">
                {shown < total && `${formatNumber(shown)} of `}
                {counted(total, 'asset')} {isPart(all) ? 'at these locations' : 'in total'}.
                {partOf(
                  all,
                  'locations with the most assets',
                  'the number of assets and the shares refer to these locations. Choose a higher level for the others',
                )}
              </Text>
            )}
          </>
        )}
      </QueryView>
    </>
  )
}

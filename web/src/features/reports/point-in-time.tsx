import { Box, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { type ReactNode, useState } from 'react'
import { listPositions, useAssetNames } from '../../api/assets.ts'
import type { AssetLocation } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { DateTimePicker } from '../../components/date-time-picker.tsx'
import { IconSearch } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { useSearchText } from '../../components/use-search-text.ts'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'
import { dateTime, exactDateTime } from '../../lib/time.ts'
import { AssetsPerLocationReport } from './assets-per-location.tsx'
import { CsvButton } from './csv-button.tsx'
import { ReportControls, fieldWidth, useRollUp } from './roll-up.tsx'
import { useReportSearch } from './use-report-search.ts'

const size = 25

/** The rows are sorted by key. */
const Key = ({ children }: { children: string | null }) => (
  <Text size="xs" c="dimmed" className="key">
    {children}
  </Text>
)

const columns = (nameOf: (key: string) => string): ColumnDef<AssetLocation>[] => [
  {
    id: 'asset_external_key',
    header: 'Asset',
    enableSorting: true,
    cell: ({ row: { original } }) => (
      <>
        <AssetLink id={original.asset_id} name={nameOf(original.asset_external_key)} />
        <Key>{original.asset_external_key}</Key>
      </>
    ),
  },
  {
    id: 'location_external_key',
    header: 'Location',
    enableSorting: true,
    cell: ({ row: { original } }) => (
      <>
        <LocationLink id={original.location_id} fallback={original.location_external_key} />
        <Key>{original.location_external_key}</Key>
        <Text size="xs" c="dimmed" className="number" hiddenFrom="sm">
          {dateTime(original.asset_last_seen)}
        </Text>
      </>
    ),
  },
  {
    id: 'asset_last_seen',
    header: 'Last seen',
    enableSorting: true,
    meta: { from: 'sm' },
    cell: ({ row: { original } }) => <span className="number">{exactDateTime(original.asset_last_seen)}</span>,
  },
]

const sortOrders = ['asset_external_key', 'location_external_key', 'asset_last_seen'].flatMap((id) => [id, `-${id}`])

/** Where every asset was at an instant, filtered by location and text. The filters are in the URL. */
function AssetLocations({ at, controls }: { at: string; controls: ReactNode }) {
  const [{ location, below, q, page = 1, sort: chosenSort = '' }, change] = useReportSearch()
  const sort = sortOrders.includes(chosenSort) ? chosenSort : 'asset_external_key'
  const text = useSearchText(q, (typed) => change({ q: typed }))
  const filter = {
    at,
    q,
    ...(location === undefined ? {} : { location_id: location, include_descendants: below !== 'no' }),
  }
  const rows = useQuery(listPositions({ ...filter, limit: size, offset: (page - 1) * size, sort }))
  const nameOf = useAssetNames(rows.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <>
      <ReportControls>
        {controls}
        <Box w={fieldWidth}>
          <LocationPicker
            label="Location"
            placeholder="All locations"
            size="sm"
            value={location ?? null}
            onChange={(id) => change({ location: id ?? undefined })}
          />
        </Box>
        <TextInput
          label="Asset"
          placeholder="Name, key or tag"
          size="sm"
          w={fieldWidth}
          leftSection={<IconSearch size={14} />}
          value={text.typed}
          onChange={({ currentTarget }) => text.type(currentTarget.value)}
        />
        <CsvButton path="/exports/positions.csv" query={filter} name="positions.csv" />
      </ReportControls>
      <Switch
        size="sm"
        mb="sm"
        label="Include locations below"
        disabled={location === undefined}
        checked={below !== 'no'}
        onChange={({ currentTarget: { checked } }) => change({ below: checked ? undefined : 'no' })}
      />
      <QueryView query={rows}>
        {({ data, total_count: total }) =>
          total === 0 ? (
            <Text size="sm" c="dimmed">
              {location === undefined && q === undefined
                ? 'No asset had been seen by that time.'
                : 'No asset matches the filters at that time.'}
            </Text>
          ) : (
            <>
              <DataTable
                label="Asset locations"
                columns={columns(nameOf)}
                rows={data}
                rowKey={(row) => String(row.asset_id)}
                sort={sort}
                onSort={(next) => change({ sort: next })}
              />
              <Pager
                page={page}
                size={size}
                total={total}
                rows={data.length}
                what="assets"
                onPage={(next) => change({ page: next === 1 ? undefined : next })}
              />
            </>
          )
        }
      </QueryView>
    </>
  )
}

/** Where every asset was at an instant, or how many were at each location. */
export function PointInTimeReport() {
  const [{ at: chosen }, change] = useReportSearch()
  const { level, isRolledUp, control: levelControl } = useRollUp({ records: 'Every asset' })
  const [hourAgo] = useState(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString())
  const at = chosen ?? hourAgo
  const controls = (
    <>
      <DateTimePicker
        label="Time"
        size="sm"
        w={fieldWidth}
        value={toPickerValue(at)}
        onChange={(text) => change({ at: fromPickerValue(text) ?? undefined })}
      />
      {levelControl}
    </>
  )
  return (
    <Card>
      {isRolledUp ? (
        <AssetsPerLocationReport at={at} level={level} controls={controls} />
      ) : (
        <AssetLocations at={at} controls={controls} />
      )}
    </Card>
  )
}

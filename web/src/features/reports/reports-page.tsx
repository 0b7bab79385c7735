import { Button, Group, Stack, Table, Tabs, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listPositions, useAssetNames } from '../../api/assets.ts'
import { DateTimePicker } from '../../components/date-time-picker.tsx'
import { IconDownload } from '../../components/icons.ts'
import { Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { AssetPicker } from '../../components/pickers.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { download } from '../../lib/download.ts'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'
import type { ReportTab } from '../../routes/search-params.ts'
import { dateTime, exactDateTime } from '../../lib/time.ts'
import { DwellReport } from './dwell.tsx'
import { FlowReport } from './flow.tsx'
import { usePeriod } from './period.tsx'
import { useReportSearch } from './use-report-search.ts'

const size = 25

function CsvButton({
  path,
  query,
  name,
}: {
  path: string
  query: Record<string, string | number | null>
  name: string
}) {
  const action = useMutation({ mutationFn: () => download(path, name, query) })
  return (
    <>
      <Button
        size="sm"
        variant="default"
        leftSection={<IconDownload size={16} />}
        loading={action.isPending}
        onClick={() => action.mutate()}
      >
        Export CSV
      </Button>
      {action.isError && <ErrorAlert error={action.error} />}
    </>
  )
}

function PointInTimeReport() {
  const [{ at: chosen, page = 1 }, change] = useReportSearch()
  const [hourAgo] = useState(() => new Date(Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000).toISOString())
  const at = chosen ?? hourAgo
  const rows = useQuery(listPositions({ at, limit: size, offset: (page - 1) * size, sort: 'asset_external_key' }))
  const nameOf = useAssetNames(rows.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <Card>
      <Group mb="sm" align="flex-end" gap="sm">
        <DateTimePicker
          label="Time"
          w={230}
          value={toPickerValue(at)}
          onChange={(text) => change({ at: fromPickerValue(text) ?? undefined })}
        />
        <CsvButton path="/exports/positions.csv" query={{ at }} name="positions.csv" />
      </Group>
      <QueryView query={rows}>
        {({ data, total_count: total }) =>
          total === 0 ? (
            <Text size="sm" c="dimmed">
              No asset had been seen at that time.
            </Text>
          ) : (
            <>
              <div className="table-wrap">
                <Table aria-label="Asset locations">
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th fz="xs">Asset</Table.Th>
                      <Table.Th fz="xs">Location</Table.Th>
                      <Table.Th fz="xs" visibleFrom="sm">
                        Seen at
                      </Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {data.map((row) => (
                      <Table.Tr key={row.asset_id}>
                        <Table.Td>
                          <AssetLink id={row.asset_id} name={nameOf(row.asset_external_key)} />
                        </Table.Td>
                        <Table.Td>
                          <LocationLink id={row.location_id} fallback={row.location_external_key} />
                          <Text size="xs" c="dimmed" className="number" hiddenFrom="sm">
                            {dateTime(row.asset_last_seen)}
                          </Text>
                        </Table.Td>
                        <Table.Td visibleFrom="sm" className="number">
                          {exactDateTime(row.asset_last_seen)}
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </div>
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
    </Card>
  )
}

function HistoryExport() {
  const { period, control } = usePeriod()
  const [{ asset: assetId = null }, change] = useReportSearch()
  return (
    <Card>
      {control}
      <Stack gap="sm" maw={420}>
        <AssetPicker
          label="Asset"
          placeholder="All assets"
          value={assetId}
          onChange={(id) => change({ asset: id ?? undefined })}
        />
        <Text size="sm" c="dimmed">
          One line per asset and minute with a sighting: time, location, and duration of the previous stay.
        </Text>
        <Group>
          <CsvButton path="/exports/history.csv" query={{ ...period, asset_id: assetId }} name="history.csv" />
        </Group>
      </Stack>
    </Card>
  )
}

export function ReportsPage() {
  const [{ tab = 'point-in-time' }, change] = useReportSearch()
  return (
    <Page title="Reports" lead="Asset locations, time per location, and moves between locations.">
      <Tabs
        value={tab}
        onChange={(next) =>
          change({ tab: next === 'point-in-time' ? undefined : (next as ReportTab) }, { replace: false })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md" className="report-tabs">
          <Tabs.Tab value="point-in-time">Point in time</Tabs.Tab>
          <Tabs.Tab value="dwell">Time per location</Tabs.Tab>
          <Tabs.Tab value="flow">Flow</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="point-in-time">
          <PointInTimeReport />
        </Tabs.Panel>
        <Tabs.Panel value="dwell">
          <DwellReport />
        </Tabs.Panel>
        <Tabs.Panel value="flow">
          <FlowReport />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <HistoryExport />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

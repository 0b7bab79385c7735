import { Anchor, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { listHistory } from '../../api/assets.ts'
import { useLocationCounts } from '../../api/overview.ts'
import { Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { duration, exactDateTime } from '../../lib/time.ts'
import { type Stay, mergeHistory } from './merge-history.ts'
import { Timeline } from './timeline.tsx'

const spans = [
  { value: '1', label: 'Day' },
  { value: '7', label: 'Week' },
  { value: '30', label: 'Month' },
]

const size = 20

/** The history as a timeline of stays and as a table of the stored rows. */
export function HistoryCard({ assetId }: { assetId: number }) {
  const [days, setDays] = useState('1')
  const [page, setPage] = useState(1)
  const counts = useLocationCounts()
  const from = useMemo(() => Math.floor((Date.now() - Number(days) * 86_400_000) / 60_000) * 60_000, [days])
  const recent = useQuery(listHistory(assetId, { limit: 200, offset: 0 }))
  const rows = useQuery(listHistory(assetId, { limit: size, offset: (page - 1) * size }))
  const nameOf = (stay: Stay): string =>
    stay.locationId === null ? 'No location' : (counts.get(stay.locationId)?.name ?? stay.locationKey ?? 'Deleted')
  const now = Date.now()
  return (
    <Card
      title="History"
      aside={<SegmentedControl size="xs" value={days} onChange={setDays} data={spans} aria-label="Time range" />}
    >
      <QueryView query={recent} rows={3}>
        {({ data, total_count: total }) => {
          if (total === 0)
            return (
              <Text size="sm" c="dimmed">
                Not seen yet. The history starts with the first read of one of its tags or the first save on the scan
                page.
              </Text>
            )
          const stays = mergeHistory(data, now).filter((stay) => stay.to > from)
          return (
            <Stack gap="md">
              <Timeline stays={stays} from={from} to={now} nameOf={nameOf} />
              {total > 200 && Date.parse(data.at(-1)!.event_observed_at) > from && (
                <Text size="xs" c="dimmed">
                  The timeline shows the latest 200 rows; the table below contains all rows.
                </Text>
              )}
            </Stack>
          )
        }}
      </QueryView>
      {(rows.data?.total_count ?? 0) > 0 && (
        <>
          <div className="table-wrap">
            <Table mt="md" aria-label="History rows">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th fz="xs">Seen at</Table.Th>
                  <Table.Th fz="xs">When</Table.Th>
                  <Table.Th fz="xs" ta="right" visibleFrom="xs">
                    Previous stay
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.data?.data.map((row) => (
                  <Table.Tr key={row.event_observed_at}>
                    <Table.Td>
                      <LocationLink id={row.location_id} fallback={row.location_external_key} />
                    </Table.Td>
                    <Table.Td className="number">
                      <Group gap={8}>
                        <span>{exactDateTime(row.event_observed_at)}</span>
                        <Text size="xs" c="dimmed" span visibleFrom="sm">
                          <RelativeTime at={row.event_observed_at} />
                        </Text>
                      </Group>
                      {row.duration_seconds !== null && (
                        <Text size="xs" c="dimmed" hiddenFrom="xs">
                          {duration(row.duration_seconds)} at the previous location
                        </Text>
                      )}
                    </Table.Td>
                    <Table.Td ta="right" className="number" visibleFrom="xs">
                      {row.duration_seconds === null ? '–' : duration(row.duration_seconds)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
          <Pager
            page={page}
            size={size}
            total={rows.data?.total_count ?? 0}
            rows={rows.data?.data.length ?? 0}
            onPage={setPage}
            what="rows"
          />
          <Text size="xs" c="dimmed" mt={4}>
            One row per minute with a sighting.{' '}
            <Anchor inherit underline="always" href="/reports">
              Export as CSV
            </Anchor>
          </Text>
        </>
      )}
    </Card>
  )
}

import { Badge, Button, Table, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAssetNames } from '../../api/assets.ts'
import type { AssetLocation, List, LocationCount, LocationEvent, Overview } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconBox, IconPlus } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { formatNumber } from '../../lib/time.ts'
import { byName } from './tree.ts'

/** The number of rows of a page of a list. */
export const size = 15

interface ListProps<Row> {
  id: number
  query: UseQueryResult<List<Row>>
  page: number
  onPage: (page: number) => void
}

export function AssetsHereCard({
  id,
  query,
  page,
  onPage,
  showsBelow,
}: ListProps<AssetLocation> & {
  /** Assets of the locations below are in the list. */
  showsBelow: boolean
}) {
  const nameOf = useAssetNames(query.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <Card title="Assets here">
      <QueryView query={query} rows={4}>
        {({ data, total_count: total }) =>
          total === 0 ? (
            <EmptyState icon={<IconBox size={22} />} title="No assets were last seen here" />
          ) : (
            <>
              <div className="table-wrap">
                <Table aria-label="Assets here">
                  <Table.Tbody>
                    {data.map((row) => (
                      <Table.Tr key={row.asset_id}>
                        <Table.Td>
                          <AssetLink id={row.asset_id} name={nameOf(row.asset_external_key)} />
                          {row.location_id !== id && (
                            <Text size="xs" c="dimmed" hiddenFrom="xs">
                              <LocationLink id={row.location_id} fallback={row.location_external_key} />
                            </Text>
                          )}
                        </Table.Td>
                        <Table.Td visibleFrom="xs">
                          {row.location_id === id ? (
                            <Text size="sm" c="dimmed">
                              {showsBelow && 'this location'}
                            </Text>
                          ) : (
                            <LocationLink id={row.location_id} fallback={row.location_external_key} />
                          )}
                        </Table.Td>
                        <Table.Td ta="right">
                          <RelativeTime at={row.asset_last_seen} />
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </div>
              <Pager page={page} size={size} total={total} rows={data.length} onPage={onPage} what="assets" />
            </>
          )
        }
      </QueryView>
    </Card>
  )
}

function EventLocation({ id, name, word }: { id: number | null; name: string; word: 'from' | 'to' | 'at' }) {
  return (
    <Text size="sm" c="dimmed" span>
      {` ${word} `}
      <LocationLink id={id} name={name} />
    </Text>
  )
}

export function LocationEventsCard({ id, query, page, onPage }: ListProps<LocationEvent>) {
  const nameOf = useAssetNames(query.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <Card title="Arrivals and departures">
      <QueryView query={query} rows={4}>
        {({ data, total_count: total }) =>
          total === 0 ? (
            <Text size="sm" c="dimmed">
              No arrivals or departures yet.
            </Text>
          ) : (
            <>
              <div className="live-rows">
                {data.map((one) => (
                  <div className="move-row" key={`${one.asset_id}-${one.event}-${one.occurred_at}`}>
                    <Badge color={one.event === 'arrival' ? 'harbor' : 'gray'} style={{ flex: 'none' }} w={84}>
                      {one.event === 'arrival' ? 'Arrived' : 'Departed'}
                    </Badge>
                    <Text size="sm" component="div" style={{ flex: 1, minWidth: 0 }}>
                      <AssetLink id={one.asset_id} name={nameOf(one.asset_external_key)} />
                      {one.location_id !== id && one.event === 'arrival' && (
                        <EventLocation id={one.location_id} name={one.location_name} word="at" />
                      )}
                      {one.location_id !== id && one.event === 'departure' && (
                        <EventLocation id={one.location_id} name={one.location_name} word="from" />
                      )}
                      {one.other_location_name !== null && (
                        <EventLocation
                          id={one.other_location_id}
                          name={one.other_location_name}
                          word={one.event === 'arrival' ? 'from' : 'to'}
                        />
                      )}
                    </Text>
                    <Text size="xs" c="dimmed">
                      <RelativeTime at={one.occurred_at} />
                    </Text>
                  </div>
                ))}
              </div>
              <Pager page={page} size={size} total={total} rows={data.length} onPage={onPage} what="events" />
            </>
          )
        }
      </QueryView>
    </Card>
  )
}

export function ChildLocationsCard({
  query,
  below,
  onAdd,
}: {
  /** The query that has loaded `below`. */
  query: UseQueryResult<Overview>
  below: readonly LocationCount[]
  onAdd: (() => void) | null
}) {
  return (
    <Card
      title="Locations below"
      aside={
        onAdd !== null && (
          <Button
            size="compact-sm"
            variant="light"
            aria-label="Create location"
            leftSection={<IconPlus size={14} />}
            onClick={onAdd}
          >
            Create
          </Button>
        )
      }
    >
      <QueryView query={query}>
        {() =>
          below.length === 0 ? (
            <Text size="sm" c="dimmed">
              No locations below.
            </Text>
          ) : (
            below.toSorted(byName).map((one) => (
              <div className="move-row" key={one.location_id}>
                <Text size="sm" component="div" style={{ flex: 1, minWidth: 0 }}>
                  <LocationLink id={one.location_id} name={one.name} />
                </Text>
                <Text size="sm" className="number">
                  {formatNumber(one.here_with_subtree)}
                </Text>
              </div>
            ))
          )
        }
      </QueryView>
    </Card>
  )
}

import {
  ActionIcon,
  Anchor,
  Badge,
  Box,
  Breadcrumbs,
  Button,
  Grid,
  Group,
  Menu,
  Stack,
  Switch,
  Table,
  Text,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { listPositions, useAssetNames } from '../../api/assets.ts'
import { ancestorsOf, locationEvents, oneLocation } from '../../api/locations.ts'
import { useLocationCounts } from '../../api/overview.ts'
import type { Location, LocationCount } from '../../api/types.ts'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconBox, IconDots, IconPencil, IconPlus, IconScan, IconTag, IconTrash } from '../../components/icons.ts'
import { Skeleton } from '../../components/skeleton.tsx'
import { Card, Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RecordErrorPage } from '../../components/record-error-page.tsx'
import { RenameKey } from '../../components/rename-key.tsx'
import { TagsCard } from '../../components/tags-card.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { formatNumber } from '../../lib/time.ts'
import { DeleteLocation } from './delete-location.tsx'
import { EditLocation } from './edit-location.tsx'
import { NewLocation } from './new-location.tsx'

const size = 15

interface CardProps {
  id: number
  /** The locations below count as part of this one. */
  includeBelow: boolean
  /** The location has locations below it. */
  isParent: boolean
  page: number
  onPage: (page: number) => void
}

/** The choices of the page, which the URL holds. */
function useChoices() {
  const { below, page = 1, events = 1 } = useSearch({ from: '/shell/locations/$locationId' })
  const navigate = useNavigate({ from: '/locations/$locationId' })
  const change = (more: { below?: 'no' | undefined; page?: number | undefined; events?: number | undefined }): void =>
    void navigate({ search: (old) => ({ ...old, ...more }) as never, replace: true, resetScroll: false })
  return { includeBelow: below !== 'no', page, events, change }
}

/** The first page is not in the URL. */
const inUrl = (page: number): number | undefined => (page === 1 ? undefined : page)

function AssetsHereCard({ id, includeBelow, isParent, page, onPage }: CardProps) {
  const positions = useQuery(
    listPositions({ location_id: id, include_descendants: includeBelow, limit: size, offset: (page - 1) * size }),
  )
  const nameOf = useAssetNames(positions.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <Card title="Assets here">
      <QueryView query={positions} rows={4}>
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
                              {includeBelow && isParent && 'this location'}
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

function LocationEventsCard({ id, includeBelow, page, onPage }: Omit<CardProps, 'isParent'>) {
  const events = useQuery(
    locationEvents(id, { include_descendants: includeBelow, limit: size, offset: (page - 1) * size }),
  )
  const nameOf = useAssetNames(events.data?.data.map((one) => one.asset_external_key) ?? [])
  return (
    <Card title="Arrivals and departures">
      <QueryView query={events} rows={4}>
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

function useChildren(id: number): LocationCount[] {
  const counts = useLocationCounts()
  const deleting = usePendingDeletions()
  return [...counts.values()].filter((one) => one.parent_id === id && !deleting.has(one.location_id))
}

function ChildLocationsCard({ all, onAdd }: { all: readonly LocationCount[]; onAdd: (() => void) | null }) {
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
      {all.length === 0 && (
        <Text size="sm" c="dimmed">
          No locations below.
        </Text>
      )}
      {all
        .toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
        .map((one) => (
          <div className="move-row" key={one.location_id}>
            <Text size="sm" component="div" style={{ flex: 1, minWidth: 0 }}>
              <LocationLink id={one.location_id} name={one.name} />
            </Text>
            <Text size="sm" className="number">
              {formatNumber(one.here_with_subtree)}
            </Text>
          </div>
        ))}
    </Card>
  )
}

export function LocationPage() {
  const { locationId } = useParams({ from: '/shell/locations/$locationId' })
  const id = Number(locationId)
  const location = useQuery(oneLocation(id))
  if (location.data !== undefined) return <Loaded key={id} location={location.data} />
  if (location.isError)
    return (
      <RecordErrorPage
        recordType="Location"
        list={{ to: '/locations', label: 'Locations' }}
        error={location.error}
        onRetry={() => void location.refetch()}
      />
    )
  return (
    <Box className="app-page">
      <Skeleton />
    </Box>
  )
}

function Actions({ location, onOpen }: { location: Location; onOpen: (what: 'edit' | 'rename' | 'delete') => void }) {
  const isManager = useHasRole('manager')
  const isOperator = useHasRole('operator')
  return (
    <>
      {isOperator && (
        <Button
          leftSection={<IconScan size={16} />}
          renderRoot={(props) => <Link to="/scan" search={{ location: location.id }} {...props} />}
        >
          Scan here
        </Button>
      )}
      {isManager && (
        <>
          <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => onOpen('edit')}>
            Edit
          </Button>
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon variant="default" size={36} aria-label="More actions">
                <IconDots size={17} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item leftSection={<IconTag size={16} />} onClick={() => onOpen('rename')}>
                Rename the key
              </Menu.Item>
              <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => onOpen('delete')}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      )}
    </>
  )
}

function Loaded({ location }: { location: Location }) {
  const isManager = useHasRole('manager')
  const ancestors = useQuery(ancestorsOf(location.id))
  const [open, setOpen] = useState<'edit' | 'rename' | 'delete' | 'new' | null>(null)
  const { includeBelow, page, events, change } = useChoices()
  const children = useChildren(location.id)
  const close = (): void => setOpen(null)
  return (
    <Page
      title={location.name}
      above={
        <Breadcrumbs separatorMargin={6} fz="sm" c="dimmed" mih="1.55em">
          <Anchor inherit c="dimmed" renderRoot={(props) => <Link to="/locations" {...props} />}>
            Locations
          </Anchor>
          {ancestors.data?.data.map((one) => (
            <LocationLink key={one.id} id={one.id} name={one.name} />
          ))}
        </Breadcrumbs>
      }
      lead={
        <Group gap={8}>
          <span className="key">{location.external_key}</span>
          {!location.is_active && <Badge color="gray">inactive</Badge>}
          {location.description !== null && <span>{location.description}</span>}
        </Group>
      }
      actions={<Actions location={location} onOpen={setOpen} />}
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Switch
              size="sm"
              label="Include locations below"
              disabled={children.length === 0}
              checked={includeBelow}
              onChange={({ currentTarget }) =>
                change({ below: currentTarget.checked ? undefined : 'no', page: undefined, events: undefined })
              }
            />
            <AssetsHereCard
              id={location.id}
              includeBelow={includeBelow}
              isParent={children.length > 0}
              page={page}
              onPage={(next) => change({ page: inUrl(next) })}
            />
            <LocationEventsCard
              id={location.id}
              includeBelow={includeBelow}
              page={events}
              onPage={(next) => change({ events: inUrl(next) })}
            />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <ChildLocationsCard all={children} onAdd={isManager ? () => setOpen('new') : null} />
            <TagsCard kind="locations" id={location.id} tags={location.tags} mayEdit={isManager} />
          </Stack>
        </Grid.Col>
      </Grid>
      {open === 'edit' && <EditLocation location={location} onClose={close} />}
      {open === 'rename' && (
        <RenameKey kind="locations" id={location.id} current={location.external_key} opened onClose={close} />
      )}
      {open === 'new' && <NewLocation parentId={location.id} onClose={close} />}
      {open === 'delete' && <DeleteLocation location={location} onClose={close} />}
    </Page>
  )
}

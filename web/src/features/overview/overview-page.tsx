import { Anchor, Badge, Box, Grid, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Suspense, lazy, useMemo } from 'react'
import { loadCode } from '../../api/connection.ts'
import { overview, unseenAssets } from '../../api/overview.ts'
import { listReaders } from '../../api/readers.ts'
import type { Overview } from '../../api/types.ts'
import { Card, Page } from '../../components/page.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { readerHealth } from '../../lib/reader-health.ts'
import { formatNumber } from '../../lib/time.ts'
import { treeRows } from '../locations/tree.ts'
import { FirstSteps } from './first-steps.tsx'
import { MovesCard } from './moves-card.tsx'

const MovesChart = lazy(() => loadCode(() => import('./moves-chart.tsx')))

function Stat({ label, value, note }: { label: string; value: number; note?: string }) {
  return (
    <Paper p="md">
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text fz={26} fw={660} lh={1.25} className="number">
        {formatNumber(value)}
      </Text>
      <Text size="xs" c="dimmed" mih={18}>
        {note}
      </Text>
    </Paper>
  )
}

const maxShownLocations = 14

function LocationsCard({ data }: { data: Overview }) {
  const rows = useMemo(() => treeRows(data.locations, new Set()), [data.locations])
  const maxCount = Math.max(1, ...data.locations.map((one) => one.here_with_subtree))
  return (
    <Card
      title="Assets per location"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/locations" {...props} />}>
          All locations
        </Anchor>
      }
    >
      <Stack gap={9}>
        {rows.slice(0, maxShownLocations).map(({ location, depth }) => (
          <Group key={location.location_id} gap="sm" wrap="nowrap" className="location-row">
            <Text
              size="sm"
              truncate
              pl={Math.min(depth, 5) * 16}
              style={{ flex: '1 1 46%', minWidth: 0 }}
              fw={depth === 0 ? 600 : 400}
            >
              <LocationLink id={location.location_id} name={location.name} />
            </Text>
            <Box className="bar" style={{ flex: '1 1 34%' }} aria-hidden>
              <div style={{ width: `${(location.here_with_subtree / maxCount) * 100}%` }} />
            </Box>
            <Text size="sm" className="number" w={52} ta="right">
              {formatNumber(location.here_with_subtree)}
            </Text>
          </Group>
        ))}
        {rows.length > maxShownLocations && (
          <Text size="xs" c="dimmed">
            and {formatNumber(rows.length - maxShownLocations)} more locations
          </Text>
        )}
      </Stack>
    </Card>
  )
}

function UnseenAssetsCard({ data }: { data: Overview }) {
  const unseen = useQuery(unseenAssets({ hours: data.quiet_after_hours, limit: 6, offset: 0 }))
  return (
    <Card title="Not seen recently">
      <QueryView query={unseen} rows={3}>
        {({ data: rows, total_count: total }) => (
          <>
            {total === 0 && (
              <Text size="sm" c="dimmed">
                All assets with a sighting were seen within the last {data.quiet_after_hours} hours.
              </Text>
            )}
            {rows.map((one) => (
              <div className="move-row" key={one.asset_id}>
                <Box style={{ flex: 1, minWidth: 0 }}>
                  <Text size="sm">
                    <AssetLink id={one.asset_id} name={one.name} />
                  </Text>
                  <Text size="xs" c="dimmed">
                    last at <LocationLink id={one.location_id} name={one.location_name} />
                  </Text>
                </Box>
                <Text size="xs" c="dimmed">
                  <RelativeTime at={one.last_seen_at} />
                </Text>
              </div>
            ))}
          </>
        )}
      </QueryView>
    </Card>
  )
}

function ReadersCard() {
  const readers = useQuery(listReaders({ limit: 100, offset: 0 }))
  return (
    <Card
      title="Readers"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/readers" {...props} />}>
          All readers
        </Anchor>
      }
    >
      <QueryView query={readers} rows={2}>
        {({ data }) => {
          const unhealthy = data.filter((one) => readerHealth(one).kind !== 'good')
          if (data.length === 0)
            return (
              <Text size="sm" c="dimmed">
                No readers yet.
              </Text>
            )
          if (unhealthy.length === 0)
            return (
              <Text size="sm" c="dimmed">
                All {formatNumber(data.length)} readers reported recently.
              </Text>
            )
          return unhealthy.slice(0, 6).map((one) => (
            <div className="move-row" key={one.id}>
              <Link to="/readers/$readerId" params={{ readerId: String(one.id) }} className="row-link">
                {one.name}
              </Link>
              <Badge color="yellow" ml="auto">
                {readerHealth(one).label}
              </Badge>
            </div>
          ))
        }}
      </QueryView>
    </Card>
  )
}

function Loaded({ data }: { data: Overview }) {
  const moves = data.moves_per_hour.reduce((sum, one) => sum + one.moves, 0)
  if (data.locations.length === 0 || data.assets_total === 0 || data.seen_total === 0) return <FirstSteps data={data} />
  return (
    <Stack>
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm">
        <Stat label="Assets" value={data.assets_total} note={`${formatNumber(data.seen_total)} seen at least once`} />
        <Stat label="Locations" value={data.locations.length} />
        <Stat label="Moves in 24 hours" value={moves} />
        <Stat label="Not seen recently" value={data.quiet_total} note={`for ${data.quiet_after_hours} hours or more`} />
      </SimpleGrid>
      <Card title="Moves per hour">
        <Suspense fallback={<Skeleton h={150} />}>
          <MovesChart hours={data.moves_per_hour} />
        </Suspense>
      </Card>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <LocationsCard data={data} />
            <UnseenAssetsCard data={data} />
            <ReadersCard />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <MovesCard />
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

export function OverviewPage() {
  const data = useQuery(overview())
  return (
    <Page title="Overview" lead="Current locations and recent moves.">
      <QueryView query={data}>{(loaded) => <Loaded data={loaded} />}</QueryView>
    </Page>
  )
}

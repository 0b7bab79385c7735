import { Anchor, Badge, Box, Breadcrumbs, Button, Grid, Group, Stack, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { listPositions } from '../../api/assets.ts'
import { ancestorsOf, locationEvents, oneLocation } from '../../api/locations.ts'
import { overview } from '../../api/overview.ts'
import type { Location } from '../../api/types.ts'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { IconScan } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { type RecordAction, RecordActions } from '../../components/record-actions.tsx'
import { RecordErrorPage } from '../../components/record-error-page.tsx'
import { RenameKey } from '../../components/rename-key.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { TagsCard } from '../../components/tags-card.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { DeleteLocation } from './delete-location.tsx'
import { EditLocation } from './edit-location.tsx'
import { AssetsHereCard, ChildLocationsCard, LocationEventsCard, size } from './location-cards.tsx'
import { NewLocation } from './new-location.tsx'

/** The choices of the page, which the URL holds. */
function useChoices() {
  const { below, page = 1, events: eventsPage = 1 } = useSearch({ from: '/shell/locations/$locationId' })
  const navigate = useNavigate({ from: '/locations/$locationId' })
  const change = (more: { below?: 'no' | undefined; page?: number | undefined; events?: number | undefined }): void =>
    void navigate({ search: (old) => ({ ...old, ...more }) as never, replace: true, resetScroll: false })
  return { includeBelow: below !== 'no', page, eventsPage, change }
}

/** The first page is not in the URL. */
const inUrl = (page: number): number | undefined => (page === 1 ? undefined : page)

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

function Loaded({ location }: { location: Location }) {
  const isManager = useHasRole('manager')
  const isOperator = useHasRole('operator')
  const ancestors = useQuery(ancestorsOf(location.id))
  const [open, setOpen] = useState<RecordAction | 'new' | null>(null)
  const { includeBelow, page, eventsPage, change } = useChoices()
  const pageOf = (number: number) => ({
    include_descendants: includeBelow,
    limit: size,
    offset: (number - 1) * size,
  })
  const assets = useQuery(listPositions({ location_id: location.id, ...pageOf(page) }))
  const events = useQuery(locationEvents(location.id, pageOf(eventsPage)))
  const counts = useQuery(overview())
  const deleting = usePendingDeletions()
  const below = (counts.data?.locations ?? []).filter(
    (one) => one.parent_id === location.id && !deleting.has(one.location_id),
  )
  // On a phone the second column is below the lists: it waits for them, so that its controls do not move.
  const isLoading = assets.isLoading || events.isLoading || counts.isLoading
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
      actions={
        <>
          {isOperator && (
            <Button
              leftSection={<IconScan size={16} />}
              renderRoot={(props) => <Link to="/scan" search={{ location: location.id }} {...props} />}
            >
              Scan here
            </Button>
          )}
          <RecordActions onOpen={setOpen} />
        </>
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <Switch
              size="sm"
              label="Include locations below"
              disabled={below.length === 0}
              checked={includeBelow}
              onChange={({ currentTarget }) =>
                change({ below: currentTarget.checked ? undefined : 'no', page: undefined, events: undefined })
              }
            />
            <AssetsHereCard
              id={location.id}
              query={assets}
              showsBelow={includeBelow && below.length > 0}
              page={page}
              onPage={(next) => change({ page: inUrl(next) })}
            />
            <LocationEventsCard
              id={location.id}
              query={events}
              page={eventsPage}
              onPage={(next) => change({ events: inUrl(next) })}
            />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          {isLoading ? (
            <Skeleton />
          ) : (
            <Stack>
              <ChildLocationsCard query={counts} below={below} onAdd={isManager ? () => setOpen('new') : null} />
              <TagsCard kind="locations" id={location.id} tags={location.tags} mayEdit={isManager} />
            </Stack>
          )}
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

import { Button, Group, Paper, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { overview } from '../../api/overview.ts'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconMapPin, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useSearchText } from '../../components/use-search-text.ts'
import { useHasRole } from '../../components/use-session.ts'
import { LocationTree } from './location-tree.tsx'
import { NewLocation } from './new-location.tsx'
import { filterTree } from './tree.ts'

export function LocationsPage() {
  const { q, create } = useSearch({ from: '/shell/locations' })
  const navigate = useNavigate({ from: '/locations' })
  const isManager = useHasRole('manager')
  const counts = useQuery(overview())
  const { typed, type } = useSearchText(q, (text) => {
    void navigate({ search: (old) => ({ ...old, q: text }) as never, replace: true })
  })
  const setCreating = (isOpen: boolean): void =>
    void navigate({
      search: (old) => ({ ...old, create: isOpen ? 'yes' : undefined }) as never,
      replace: true,
      ignoreBlocker: true,
    })
  const deleting = usePendingDeletions()
  const shown = useMemo(() => {
    const kept = counts.data?.locations.filter((one) => !deleting.has(one.location_id)) ?? []
    return filterTree(kept, typed)
  }, [counts.data, deleting, typed])
  return (
    <Page
      title="Locations"
      lead="The location tree, with the number of assets last seen at each location."
      actions={
        isManager && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            Create location
          </Button>
        )
      }
    >
      <TextInput
        aria-label="Search locations"
        placeholder="Name or key"
        leftSection={<IconSearch size={16} />}
        mb="sm"
        maw={420}
        value={typed}
        onChange={({ currentTarget }) => type(currentTarget.value)}
      />
      <QueryView query={counts}>
        {({ locations }) => (
          <Paper p="xs">
            {locations.length > 0 && (
              <Group justify="space-between" px={8} pb={6}>
                <Text size="xs" c="dimmed" fw={600}>
                  Location
                </Text>
                <Text size="xs" c="dimmed" fw={600}>
                  Assets
                </Text>
              </Group>
            )}
            <LocationTree locations={shown} searchText={typed} />
            {locations.length === 0 && (
              <EmptyState
                icon={<IconMapPin size={24} />}
                title="No locations yet"
                action={isManager && <Button onClick={() => setCreating(true)}>Create the first location</Button>}
              >
                Start with a site or a building, then add halls, rooms and shelves below it. Readers and operators
                report the location of assets.
              </EmptyState>
            )}
            {locations.length > 0 && shown.length === 0 && (
              <EmptyState icon={<IconSearch size={22} />} title="No results" />
            )}
          </Paper>
        )}
      </QueryView>
      {isManager && create === 'yes' && <NewLocation parentId={null} onClose={() => setCreating(false)} />}
    </Page>
  )
}

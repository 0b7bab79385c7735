import { ActionIcon, Box, Button, Group, Paper, Text, TextInput, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { overview } from '../../api/looking.ts'
import { Empty } from '../../components/empty.tsx'
import { IconChevronDown, IconChevronRight, IconMapPin, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useCan } from '../../components/use-session.ts'
import { count } from '../../lib/time.ts'
import { NewLocation } from './new-location.tsx'
import { type TreeRow, matching, treeRows } from './tree.ts'

function Row({ row, isClosed, onToggle }: { row: TreeRow; isClosed: boolean; onToggle: () => void }) {
  const { place, depth, hasChildren } = row
  return (
    <div className="tree-row" style={{ paddingLeft: Math.min(depth, 8) * 20 }} role="listitem">
      {hasChildren ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-expanded={!isClosed}
          aria-label={`${isClosed ? 'Open' : 'Close'} ${place.name}`}
          onClick={onToggle}
        >
          {isClosed ? <IconChevronRight size={16} /> : <IconChevronDown size={16} />}
        </ActionIcon>
      ) : (
        <Box w={22} />
      )}
      <Box style={{ flex: 1, minWidth: 0 }}>
        <Link to="/locations/$locationId" params={{ locationId: String(place.location_id) }} className="row-link">
          {place.name}
        </Link>{' '}
        <Text size="xs" c="dimmed" span className="key">
          {place.external_key}
        </Text>
      </Box>
      <Tooltip label={`${count(place.here)} right here, ${count(place.here_with_subtree)} with everything below`}>
        <Text size="sm" className="number" c={place.here_with_subtree === 0 ? 'dimmed' : 'inherit'}>
          {count(place.here_with_subtree)}
        </Text>
      </Tooltip>
    </div>
  )
}

export function LocationsPage() {
  const { q = '' } = useSearch({ from: '/shell/locations' })
  const navigate = useNavigate({ from: '/locations' })
  const isManager = useCan('manager')
  const places = useQuery(overview())
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set())
  const [isCreating, setCreating] = useState(false)
  const rows = useMemo(
    () => treeRows(matching(places.data?.locations ?? [], q), q === '' ? closed : new Set()),
    [places.data, q, closed],
  )
  const toggle = (id: number): void =>
    setClosed((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])))
  return (
    <Page
      title="Locations"
      lead="Your places as a tree, with how many assets were last seen there."
      actions={
        isManager && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            New location
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
        value={q}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: value === '' ? {} : { q: value }, replace: true })
        }
      />
      <QueryView query={places}>
        {({ locations }) => (
          <Paper p="xs">
            {locations.length > 0 && (
              <Group justify="space-between" px={8} pb={6}>
                <Text size="xs" c="dimmed" fw={600}>
                  Place
                </Text>
                <Text size="xs" c="dimmed" fw={600}>
                  Assets
                </Text>
              </Group>
            )}
            <div role="list" aria-label="Locations">
              {rows.map((row) => (
                <Row
                  key={row.place.location_id}
                  row={row}
                  isClosed={closed.has(row.place.location_id)}
                  onToggle={() => toggle(row.place.location_id)}
                />
              ))}
            </div>
            {locations.length === 0 && (
              <Empty
                icon={<IconMapPin size={24} />}
                title="No places yet"
                action={isManager && <Button onClick={() => setCreating(true)}>Add the first place</Button>}
              >
                Start with a site or a building, then put halls, rooms and shelves below it. Readers and people report
                where things are in these words.
              </Empty>
            )}
            {locations.length > 0 && rows.length === 0 && (
              <Empty icon={<IconSearch size={22} />} title="Nothing matches" />
            )}
          </Paper>
        )}
      </QueryView>
      <NewLocation opened={isCreating} parentId={null} onClose={() => setCreating(false)} />
    </Page>
  )
}

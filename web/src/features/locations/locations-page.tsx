import { ActionIcon, Box, Button, Group, Paper, Text, TextInput, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { overview } from '../../api/overview.ts'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconChevronDown, IconChevronRight, IconMapPin, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useSearchText } from '../../components/use-search-text.ts'
import { useHasRole } from '../../components/use-session.ts'
import { formatNumber } from '../../lib/time.ts'
import { NewLocation } from './new-location.tsx'
import { type TreeRow, filterTree, treeRows } from './tree.ts'

function Row({ row, isCollapsed, onToggle }: { row: TreeRow; isCollapsed: boolean; onToggle: () => void }) {
  const { location, depth, hasChildren } = row
  return (
    <div className="tree-row" style={{ paddingLeft: Math.min(depth, 8) * 20 }} role="listitem">
      {hasChildren ? (
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-expanded={!isCollapsed}
          aria-label={`${isCollapsed ? 'Expand' : 'Collapse'} ${location.name}`}
          onClick={onToggle}
        >
          {isCollapsed ? <IconChevronRight size={16} /> : <IconChevronDown size={16} />}
        </ActionIcon>
      ) : (
        <Box w={22} />
      )}
      <Text size="sm" component="div" style={{ flex: 1, minWidth: 0 }}>
        <Link to="/locations/$locationId" params={{ locationId: String(location.location_id) }} className="row-link">
          {location.name}
        </Link>{' '}
        <Text size="xs" c="dimmed" span className="key">
          {location.external_key}
        </Text>
      </Text>
      <Tooltip
        label={`${formatNumber(location.here)} here, ${formatNumber(location.here_with_subtree)} including locations below`}
      >
        <Text size="sm" className="number" c={location.here_with_subtree === 0 ? 'dimmed' : 'inherit'}>
          {formatNumber(location.here_with_subtree)}
        </Text>
      </Tooltip>
    </div>
  )
}

export function LocationsPage() {
  const { q, create } = useSearch({ from: '/shell/locations' })
  const navigate = useNavigate({ from: '/locations' })
  const isManager = useHasRole('manager')
  const counts = useQuery(overview())
  const { typed, type } = useSearchText(q, (text) => {
    void navigate({ search: (old) => ({ ...old, q: text }) as never, replace: true })
  })
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set())
  const setCreating = (isOpen: boolean): void =>
    void navigate({
      search: (old) => ({ ...old, create: isOpen ? 'yes' : undefined }) as never,
      replace: true,
      ignoreBlocker: true,
    })
  const deleting = usePendingDeletions()
  const rows = useMemo(() => {
    const kept = counts.data?.locations.filter((one) => !deleting.has(one.location_id)) ?? []
    return treeRows(filterTree(kept, typed), typed.trim() === '' ? collapsed : new Set())
  }, [counts.data, deleting, typed, collapsed])
  const toggle = (id: number): void =>
    setCollapsed((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])))
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
            <div role="list" aria-label="Locations">
              {rows.map((row) => (
                <Row
                  key={row.location.location_id}
                  row={row}
                  isCollapsed={collapsed.has(row.location.location_id)}
                  onToggle={() => toggle(row.location.location_id)}
                />
              ))}
            </div>
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
            {locations.length > 0 && rows.length === 0 && (
              <EmptyState icon={<IconSearch size={22} />} title="No results" />
            )}
          </Paper>
        )}
      </QueryView>
      {isManager && create === 'yes' && <NewLocation parentId={null} onClose={() => setCreating(false)} />}
    </Page>
  )
}

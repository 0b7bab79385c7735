import { ActionIcon, Box, Button, Text, Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { LocationCount } from '../../api/types.ts'
import { IconChevronDown, IconChevronRight } from '../../components/icons.ts'
import { formatNumber } from '../../lib/time.ts'
import { type TreeRow, treeRows } from './tree.ts'

/** A tree with more locations is collapsed to its top level at first. */
const maxExpanded = 500
/** The number of rows that are shown at first, and that each "Show more" adds. */
const pageSize = 500

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

interface TreeState {
  /** The locations whose children are shown although the tree is collapsed at first, or hidden although it is not. */
  toggled: ReadonlySet<number>
  shownRows: number
}

const initialState: TreeState = { toggled: new Set(), shownRows: pageSize }

/** The locations as a tree. A search has its own state, so that the tree is as before when the search text is cleared. */
export function LocationTree({ locations, searchText }: { locations: readonly LocationCount[]; searchText: string }) {
  const [states, setStates] = useState<ReadonlyMap<string, TreeState>>(new Map())
  const { toggled, shownRows } = states.get(searchText) ?? initialState
  const collapsed = useMemo(() => {
    if (locations.length <= maxExpanded) return toggled
    return new Set(locations.flatMap(({ location_id: id }) => (toggled.has(id) ? [] : id)))
  }, [locations, toggled])
  const rows = useMemo(() => treeRows(locations, collapsed), [locations, collapsed])
  const change = (changes: Partial<TreeState>): void =>
    setStates((old) => new Map(old).set(searchText, { toggled, shownRows, ...changes }))
  const toggle = (id: number): void =>
    change({ toggled: toggled.has(id) ? new Set([...toggled].filter((one) => one !== id)) : new Set([...toggled, id]) })
  return (
    <>
      <div role="list" aria-label="Locations">
        {rows.slice(0, shownRows).map((row) => (
          <Row
            key={row.location.location_id}
            row={row}
            isCollapsed={collapsed.has(row.location.location_id)}
            onToggle={() => toggle(row.location.location_id)}
          />
        ))}
      </div>
      {rows.length > shownRows && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => change({ shownRows: shownRows + pageSize })}>
          Show {formatNumber(Math.min(pageSize, rows.length - shownRows))} more of {formatNumber(rows.length)} locations
        </Button>
      )}
    </>
  )
}

import { ActionIcon, Anchor, Box, Button, Group, Text } from '@mantine/core'
import { Link, type LinkProps } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { LocationCount, Overview } from '../../api/types.ts'
import { IconChevronDown, IconChevronRight } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { counted, formatNumber } from '../../lib/time.ts'
import { type TreeRow, treeRows } from '../locations/tree.ts'

const pageSize = 100

function CountRow({
  label,
  count,
  maxCount,
  depth = 0,
  toggle,
}: {
  label: React.ReactNode
  count: number
  maxCount: number
  depth?: number
  toggle?: React.ReactNode
}) {
  return (
    <div className="location-row" role="listitem">
      <Group gap={10} wrap="nowrap" pl={Math.min(depth, 5) * 16} style={{ flex: '1 1 46%', minWidth: 0 }}>
        <Box w={22} style={{ flex: 'none' }}>
          {toggle}
        </Box>
        <Text size="sm" truncate fw={depth === 0 ? 600 : 400} component="div">
          {label}
        </Text>
      </Group>
      <Box className="bar" style={{ flex: '1 1 30%' }} visibleFrom="xs" aria-hidden>
        <div style={{ width: `${(count / maxCount) * 100}%` }} />
      </Box>
      <Text size="sm" className="number" w={60} ta="right" style={{ flex: 'none' }}>
        {formatNumber(count)}
      </Text>
    </div>
  )
}

/** While only one location is shown, its children are more informative: they are expanded from the start. */
function expandedFirst(locations: readonly LocationCount[]): Set<number> {
  const expanded = new Set<number>()
  let parents = locations.filter((one) => one.parent_id === null)
  while (parents.length === 1) {
    const [only] = parents
    expanded.add(only!.location_id)
    parents = locations.filter((one) => one.parent_id === only!.location_id)
  }
  return expanded
}

function Toggle({ row, isExpanded, onToggle }: { row: TreeRow; isExpanded: boolean; onToggle: () => void }) {
  if (!row.hasChildren) return null
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-expanded={isExpanded}
      aria-label={`${isExpanded ? 'Collapse' : 'Expand'} ${row.location.name}`}
      onClick={onToggle}
    >
      {isExpanded ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
    </ActionIcon>
  )
}

const textLink = (link: LinkProps, text: string) => (
  <Link {...link} className="row-link">
    {text}
  </Link>
)

/** Every asset is counted once: at a top-level location, without a location, or as never seen. */
export function LocationsCard({ data }: { data: Overview }) {
  const { locations, assets_total: assets, seen_total: seen } = data
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(() => expandedFirst(locations))
  const [shown, setShown] = useState(pageSize)
  const rows = useMemo(
    () => treeRows(locations, new Set(locations.flatMap(({ location_id: id }) => (expanded.has(id) ? [] : id)))),
    [locations, expanded],
  )
  const located = rows.reduce((sum, { location, depth }) => sum + (depth === 0 ? location.here_with_subtree : 0), 0)
  const [withoutLocation, neverSeen] = [Math.max(0, seen - located), Math.max(0, assets - seen)]
  const maxCount = Math.max(1, withoutLocation, neverSeen, ...locations.map((one) => one.here_with_subtree))
  const toggle = (id: number): void =>
    setExpanded((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])))
  return (
    <Card
      title="Assets per location"
      aside={
        <Anchor size="sm" renderRoot={(props) => <Link to="/locations" {...props} />}>
          All locations
        </Anchor>
      }
    >
      <Text size="sm" c="dimmed" mb="xs">
        {counted(assets, 'asset')}, {formatNumber(seen)} seen at least once
      </Text>
      <div role="list" aria-label="Assets per location">
        {rows.slice(0, shown).map((row) => (
          <CountRow
            key={row.location.location_id}
            label={<LocationLink id={row.location.location_id} name={row.location.name} />}
            count={row.location.here_with_subtree}
            maxCount={maxCount}
            depth={row.depth}
            toggle={
              <Toggle
                row={row}
                isExpanded={expanded.has(row.location.location_id)}
                onToggle={() => toggle(row.location.location_id)}
              />
            }
          />
        ))}
        {withoutLocation > 0 && <CountRow label="No location" count={withoutLocation} maxCount={maxCount} />}
        {neverSeen > 0 && (
          <CountRow
            label={textLink({ to: '/unseen', search: { show: 'never' } }, 'Never seen')}
            count={neverSeen}
            maxCount={maxCount}
          />
        )}
      </div>
      {rows.length > shown && (
        <Button variant="subtle" size="compact-sm" mt="xs" onClick={() => setShown(shown + pageSize)}>
          Show {formatNumber(Math.min(pageSize, rows.length - shown))} more of {formatNumber(rows.length)} locations
        </Button>
      )}
    </Card>
  )
}

import { Badge, Text } from '@mantine/core'
import type { ColumnDef } from '@tanstack/react-table'
import type { Asset, AssetAtLocation, AssetLocation } from '../../api/types.ts'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'

export interface AssetRow {
  asset: Asset | AssetAtLocation
  /** Null when the asset was never seen; undefined while its position is not known. */
  position: AssetLocation | null | undefined
}

export const assetColumns: ColumnDef<AssetRow>[] = [
  {
    id: 'name',
    header: 'Name',
    enableSorting: true,
    cell: ({ row: { original } }) => (
      <>
        <AssetLink id={original.asset.id} name={original.asset.name} />
        <Text size="xs" c="dimmed" className="key" hiddenFrom="md">
          {original.asset.external_key}
        </Text>
        {!original.asset.is_active && (
          <Badge color="gray" hiddenFrom="xs">
            inactive
          </Badge>
        )}
      </>
    ),
    accessorFn: ({ asset }) => asset.name,
  },
  {
    id: 'external_key',
    header: 'Key',
    enableSorting: true,
    meta: { from: 'md' },
    accessorFn: ({ asset }) => asset.external_key,
    cell: ({ row: { original } }) => <span className="key">{original.asset.external_key}</span>,
  },
  {
    id: 'location',
    header: 'Location',
    cell: ({ row: { original } }) =>
      original.position === undefined ? null : original.position === null ? (
        <Text size="sm" c="dimmed">
          Never seen
        </Text>
      ) : (
        <>
          <LocationLink id={original.position.location_id} fallback={original.position.location_external_key} />
          <Text size="xs" c="dimmed" hiddenFrom="md">
            <RelativeTime at={original.position.asset_last_seen} />
          </Text>
        </>
      ),
  },
  {
    id: 'last_seen_at',
    header: 'Last seen',
    enableSorting: true,
    accessorFn: ({ position }) => position?.asset_last_seen,
    meta: { from: 'md' },
    cell: ({ row: { original } }) =>
      original.position === undefined ? null : <RelativeTime at={original.position?.asset_last_seen} fallback="–" />,
  },
  {
    id: 'tags',
    header: 'Tags',
    meta: { from: 'md', align: 'right' },
    cell: ({ row: { original } }) => (
      <span className="number">{'tags' in original.asset ? original.asset.tags.length : original.asset.tag_count}</span>
    ),
  },
  {
    id: 'updated_at',
    header: 'Changed',
    enableSorting: true,
    meta: { from: 'lg' },
    accessorFn: ({ asset }) => asset.updated_at,
    cell: ({ row: { original } }) => <RelativeTime at={original.asset.updated_at} />,
  },
  {
    id: 'state',
    header: 'State',
    meta: { from: 'xs' },
    cell: ({ row: { original } }) =>
      original.asset.is_active ? <Badge color="harbor">active</Badge> : <Badge color="gray">inactive</Badge>,
  },
]

/** The columns that the user may hide. */
export const optionalColumns: readonly { id: string; label: string }[] = [
  { id: 'external_key', label: 'Key' },
  { id: 'location', label: 'Location' },
  { id: 'last_seen_at', label: 'Last seen' },
  { id: 'tags', label: 'Tags' },
  { id: 'updated_at', label: 'Changed' },
  { id: 'state', label: 'State' },
]

import { Badge, Button, Group, Paper, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { useEffect, useMemo, useState } from 'react'
import { listAssets, listAssetsAtLocation, listPositions } from '../../api/assets.ts'
import type { Asset, AssetAtLocation, AssetLocation } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconBox, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import type { assetSearch } from '../../routes/search-params.ts'
import { NewAsset } from './new-asset.tsx'

interface Row {
  asset: Asset | AssetAtLocation
  position: AssetLocation | undefined
}

const columns: ColumnDef<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    enableSorting: true,
    cell: ({ row: { original } }) => (
      <>
        <AssetLink id={original.asset.id} name={original.asset.name} />
        <Text size="xs" c="dimmed" className="key" hiddenFrom="sm">
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
    meta: { from: 'sm' },
    accessorFn: ({ asset }) => asset.external_key,
    cell: ({ row: { original } }) => <span className="key">{original.asset.external_key}</span>,
  },
  {
    id: 'location',
    header: 'Last seen at',
    cell: ({ row: { original } }) =>
      original.position === undefined ? (
        <Text size="sm" c="dimmed">
          not seen yet
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
    id: 'seen',
    header: 'Seen',
    meta: { from: 'md' },
    cell: ({ row: { original } }) => <RelativeTime at={original.position?.asset_last_seen} fallback="–" />,
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

/** The rows of a page: of all assets, or of those at the chosen location. */
function useRows({ q, sort, location, page = 1, active }: ReturnType<typeof assetSearch>, size: number) {
  const isActive = active === undefined ? undefined : active === 'yes'
  const request = { q, sort, is_active: isActive, limit: size, offset: (page - 1) * size }
  const all = useQuery({ ...listAssets(request), enabled: location === undefined })
  const atLocation = useQuery({ ...listAssetsAtLocation(location ?? 0, request), enabled: location !== undefined })
  const { data, error } = location === undefined ? all : atLocation
  const ids = data?.data.map((one) => one.id) ?? []
  const positions = useQuery({ ...listPositions({ asset_id: ids, limit: 200, offset: 0 }), enabled: ids.length > 0 })
  const rows = useMemo(() => {
    const byAsset = new Map(positions.data?.data.map((one) => [one.asset_id, one]))
    return data?.data.map((asset): Row => ({ asset, position: byAsset.get(asset.id) }))
  }, [data, positions.data])
  return { rows, total: data?.total_count, error }
}

export function AssetsPage() {
  const search = useSearch({ from: '/shell/assets' })
  const navigate = useNavigate({ from: '/assets' })
  const isManager = useHasRole('manager')
  const [isCreating, setCreating] = useState(false)
  const [typed, setTyped] = useState(search.q ?? '')
  const size = Math.min(search.size ?? 25, 100)
  const { rows, total, error } = useRows(search, size)
  const change = (more: object): void =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...more }) as never, replace: true })
  const find = useDebouncedCallback((q: string) => change({ q: q === '' ? undefined : q }), 220)
  useEffect(() => setTyped((now) => (now.trim() === (search.q ?? '') ? now : (search.q ?? ''))), [search.q])
  const isBeyondEnd = rows?.length === 0 && total !== undefined && total > 0
  const isFiltered = search.q !== undefined || search.active !== undefined || search.location !== undefined
  return (
    <Page
      title="Assets"
      lead="All tracked assets and where they were last seen."
      actions={
        isManager && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            New asset
          </Button>
        )
      }
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <TextInput
          aria-label="Search assets"
          placeholder="Name, key, description or tag"
          leftSection={<IconSearch size={16} />}
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value)
            find(value.trim())
          }}
          style={{ flex: '1 1 220px' }}
        />
        <LocationPicker
          aria-label="At or below this location"
          placeholder="Any location"
          value={search.location ?? null}
          onChange={(id) => change({ location: id ?? undefined })}
          style={{ flex: '1 1 200px' }}
          maw={{ sm: 230 }}
        />
        <SegmentedControl
          aria-label="State"
          size="xs"
          value={search.active ?? 'all'}
          onChange={(value) => change({ active: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
      </Group>
      {error !== null ? (
        <ErrorAlert error={error} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="Assets"
            columns={columns}
            rows={isBeyondEnd ? undefined : rows}
            rowKey={(row) => String(row.asset.id)}
            sort={search.sort ?? 'external_key'}
            onSort={(sort) => change({ sort })}
            empty={
              isFiltered ? (
                <EmptyState icon={<IconSearch size={22} />} title="Nothing matches">
                  Try a shorter search text or another location.
                </EmptyState>
              ) : (
                <EmptyState
                  icon={<IconBox size={24} />}
                  title="No assets yet"
                  action={isManager && <Button onClick={() => setCreating(true)}>Add the first one</Button>}
                >
                  An asset is any movable object you want to find again: a pallet jack, a case, a bed. Give it a name
                  and a tag, and it appears at every location where the tag is read.
                </EmptyState>
              )
            }
          />
        </Paper>
      )}
      <Pager
        page={search.page ?? 1}
        size={size}
        total={total ?? 0}
        rows={rows?.length ?? 0}
        what="assets"
        onPage={(page) => change({ page: page === 1 ? undefined : page })}
      />
      <NewAsset opened={isCreating} onClose={() => setCreating(false)} />
    </Page>
  )
}

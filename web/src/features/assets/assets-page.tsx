import { Badge, Button, Group, Paper, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { useEffect, useMemo, useState } from 'react'
import { listAssets, listPositions } from '../../api/assets.ts'
import type { Asset, AssetLocation } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Empty } from '../../components/empty.tsx'
import { IconBox, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { AssetLink, PlaceLink } from '../../components/place-link.tsx'
import { Problem } from '../../components/problem.tsx'
import { useCan } from '../../components/use-session.ts'
import { When } from '../../components/when.tsx'
import type { assetSearch } from '../../routes/search.ts'
import { NewAsset } from './new-asset.tsx'

interface Row {
  asset: Asset
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
    id: 'place',
    header: 'Last seen at',
    cell: ({ row: { original } }) =>
      original.position === undefined ? (
        <Text size="sm" c="dimmed">
          not seen yet
        </Text>
      ) : (
        <>
          <PlaceLink id={original.position.location_id} fallback={original.position.location_external_key} />
          <Text size="xs" c="dimmed" hiddenFrom="md">
            <When at={original.position.asset_last_seen} />
          </Text>
        </>
      ),
  },
  {
    id: 'seen',
    header: 'Seen',
    meta: { from: 'md' },
    cell: ({ row: { original } }) => <When at={original.position?.asset_last_seen} fallback="–" />,
  },
  {
    id: 'tags',
    header: 'Tags',
    meta: { from: 'md', align: 'right' },
    cell: ({ row: { original } }) => <span className="number">{original.asset.tags.length}</span>,
  },
  {
    id: 'updated_at',
    header: 'Changed',
    enableSorting: true,
    meta: { from: 'lg' },
    accessorFn: ({ asset }) => asset.updated_at,
    cell: ({ row: { original } }) => <When at={original.asset.updated_at} />,
  },
  {
    id: 'state',
    header: 'State',
    meta: { from: 'xs' },
    cell: ({ row: { original } }) =>
      original.asset.is_active ? <Badge color="harbor">active</Badge> : <Badge color="gray">inactive</Badge>,
  },
]

/** The rows of a page: assets as they stand in the list, or, with a place chosen, what is there. */
function useRows(search: ReturnType<typeof assetSearch>, size: number) {
  const { q, sort, place, page = 1, active } = search
  const offset = (page - 1) * size
  const isByPlace = place !== undefined
  const here = useQuery({
    ...listPositions({ location_id: place, include_descendants: true, q, limit: size, offset }),
    enabled: isByPlace,
  })
  const keys = here.data?.data.map((one) => one.asset_external_key) ?? []
  const request = isByPlace
    ? { external_key: keys, limit: 200, offset: 0 }
    : { q, sort, is_active: active === undefined ? undefined : active === 'yes', limit: size, offset }
  const assets = useQuery({ ...listAssets(request), enabled: !isByPlace || keys.length > 0 })
  const ids = assets.data?.data.map((one) => one.id) ?? []
  const there = useQuery({
    ...listPositions({ asset_id: ids, limit: 200, offset: 0 }),
    enabled: !isByPlace && ids.length > 0,
  })
  const rows = useMemo(() => {
    const positions = new Map((isByPlace ? here : there).data?.data.map((one) => [one.asset_id, one]))
    const known = isByPlace && keys.length === 0 ? [] : assets.data?.data
    if (isByPlace && here.data === undefined) return undefined
    const all = known?.map((asset): Row => ({ asset, position: positions.get(asset.id) }))
    return isByPlace ? all?.filter((one) => one.position !== undefined) : all
  }, [isByPlace, here.data, there.data, assets.data, keys.length])
  const total = (isByPlace ? here : assets).data?.total_count
  return { rows, total, error: here.error ?? assets.error, isFetching: assets.isFetching || here.isFetching }
}

export function AssetsPage() {
  const search = useSearch({ from: '/shell/assets' })
  const navigate = useNavigate({ from: '/assets' })
  const isManager = useCan('manager')
  const [isCreating, setCreating] = useState(false)
  const [typed, setTyped] = useState(search.q ?? '')
  const size = Math.min(search.size ?? 25, 100)
  const { rows, total, error } = useRows(search, size)
  const change = (more: object): void =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...more }) as never, replace: true })
  const find = useDebouncedCallback((q: string) => change({ q: q === '' ? undefined : q }), 220)
  useEffect(() => setTyped((now) => (now.trim() === (search.q ?? '') ? now : (search.q ?? ''))), [search.q])
  const isFiltered = search.q !== undefined || search.active !== undefined || search.place !== undefined
  return (
    <Page
      title="Assets"
      lead="Everything you keep track of, and where it was last seen."
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
          aria-label="At or below this place"
          placeholder="At any place"
          value={search.place ?? null}
          onChange={(id) => change({ place: id ?? undefined })}
          style={{ flex: '1 1 200px' }}
          maw={{ sm: 230 }}
        />
        <SegmentedControl
          aria-label="State"
          size="xs"
          value={search.active ?? 'all'}
          disabled={search.place !== undefined}
          onChange={(value) => change({ active: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
      </Group>
      {error !== null ? (
        <Problem error={error} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="Assets"
            columns={columns}
            rows={rows}
            rowKey={(row) => String(row.asset.id)}
            sort={search.place === undefined ? (search.sort ?? 'external_key') : undefined}
            {...(search.place === undefined ? { onSort: (sort?: string) => change({ sort }) } : {})}
            empty={
              isFiltered ? (
                <Empty icon={<IconSearch size={22} />} title="Nothing matches">
                  Try fewer letters, or another place.
                </Empty>
              ) : (
                <Empty
                  icon={<IconBox size={24} />}
                  title="No assets yet"
                  action={isManager && <Button onClick={() => setCreating(true)}>Add the first one</Button>}
                >
                  An asset is anything that moves and should be found again: a pallet jack, a case, a bed. Give it a
                  name and a tag, and it shows up wherever the tag is read.
                </Empty>
              )
            }
          />
        </Paper>
      )}
      <Pager
        page={search.page ?? 1}
        size={size}
        total={total ?? 0}
        what="assets"
        onPage={(page) => change({ page: page === 1 ? undefined : page })}
      />
      <NewAsset opened={isCreating} onClose={() => setCreating(false)} />
    </Page>
  )
}

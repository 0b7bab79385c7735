import { Box, Button, Group, Paper, SegmentedControl, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { listAssets, listAssetsAtLocation, listAssetsByLastSeen, listPositions } from '../../api/assets.ts'
import { DataTable } from '../../components/data-table.tsx'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconBox, IconPlus, IconSearch } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { useSearchText } from '../../components/use-search-text.ts'
import { useHasRole } from '../../components/use-session.ts'
import { formatNumber } from '../../lib/time.ts'
import type { assetSearch } from '../../routes/search-params.ts'
import { type AssetRow, assetColumns } from './asset-columns.tsx'
import { BulkActions, type SelectedAsset, maxSelected } from './bulk-actions.tsx'
import { ColumnChoice } from './column-choice.tsx'
import { NewAsset } from './new-asset.tsx'
import { ViewsMenu } from './views-menu.tsx'

/** The rows of a page: of all assets, or of those at the chosen location. */
function useRows({ q, sort, location, page = 1, active }: ReturnType<typeof assetSearch>, size: number) {
  const isActive = active === undefined ? undefined : active === 'yes'
  const request = { q, sort, is_active: isActive, limit: size, offset: (page - 1) * size }
  const isByLastSeen = sort === 'last_seen_at' || sort === '-last_seen_at'
  const all = useQuery({ ...listAssets(request), enabled: !isByLastSeen && location === undefined })
  const atLocation = useQuery({
    ...listAssetsAtLocation(location ?? 0, request),
    enabled: !isByLastSeen && location !== undefined,
  })
  const byLastSeen = useQuery({ ...listAssetsByLastSeen({ ...request, location_id: location }), enabled: isByLastSeen })
  const { data, error, refetch } = isByLastSeen ? byLastSeen : location === undefined ? all : atLocation
  const deleting = usePendingDeletions()
  const ids = data?.data.map((one) => one.id) ?? []
  const positions = useQuery({ ...listPositions({ asset_id: ids, limit: 200, offset: 0 }), enabled: ids.length > 0 })
  const isLocated = positions.isSuccess && !positions.isPlaceholderData
  const rows = useMemo(() => {
    const byAsset = new Map(positions.data?.data.map((one) => [one.asset_id, one]))
    return data?.data
      .filter((asset) => !deleting.has(asset.id))
      .map((asset): AssetRow => ({ asset, position: byAsset.get(asset.id) ?? (isLocated ? null : undefined) }))
  }, [data, positions.data, isLocated, deleting])
  const hiddenCount = (data?.data.length ?? 0) - (rows?.length ?? 0)
  return { rows, hiddenCount, total: data?.total_count, error, refetch, positions }
}

export function AssetsPage() {
  const search = useSearch({ from: '/shell/assets' })
  const navigate = useNavigate({ from: '/assets' })
  const isManager = useHasRole('manager')
  const size = Math.min(search.size ?? 25, 100)
  const { rows, hiddenCount, total = 0, error, refetch, positions } = useRows(search, size)
  const page = search.page ?? 1
  const change = (more: object): void =>
    void navigate({ search: (old) => ({ ...old, page: undefined, ...more }) as never, replace: true })
  const setCreating = (isOpen: boolean): void =>
    void navigate({
      search: (old) => ({ ...old, create: isOpen ? 'yes' : undefined }) as never,
      replace: true,
      ignoreBlocker: true,
    })
  const text = useSearchText(search.q, (q) => change({ q }))
  const [selected, setSelected] = useState<ReadonlyMap<number, SelectedAsset>>(new Map())
  const clearSelection = (): void => setSelected(new Map())
  // Clears the selection when a filter hides selected rows.
  useEffect(clearSelection, [search.q, search.active, search.location])
  const select = (chosen: readonly AssetRow[], isSelected: boolean): void =>
    setSelected((old) => {
      const next = new Map(old)
      for (const { asset } of chosen)
        if (!isSelected) next.delete(asset.id)
        else if (next.size < maxSelected) next.set(asset.id, asset)
      return next
    })
  const hidden = (search.hide ?? '').split(',')
  // The pager leads to the last page, which is then loaded.
  const isBeyondEnd = rows?.length === 0 && hiddenCount === 0 && total > 0
  const isFiltered = search.q !== undefined || search.active !== undefined || search.location !== undefined
  return (
    <Page
      title="Assets"
      lead="All tracked assets and where they were last seen."
      actions={
        isManager && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
            Create asset
          </Button>
        )
      }
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <TextInput
          aria-label="Search assets"
          placeholder="Name, key, description or tag"
          leftSection={<IconSearch size={16} />}
          value={text.typed}
          onChange={({ currentTarget }) => text.type(currentTarget.value)}
          style={{ flex: '1 1 220px' }}
        />
        <LocationPicker
          aria-label="At or below this location"
          placeholder="All locations"
          value={search.location ?? null}
          onChange={(id) => change({ location: id ?? undefined })}
          style={{ flex: '1 1 200px' }}
          maw={{ sm: 230 }}
        />
        <SegmentedControl
          aria-label="State"
          size="sm"
          value={search.active ?? 'all'}
          onChange={(value) => change({ active: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
        <Group gap={6} wrap="nowrap">
          <ColumnChoice
            hidden={hidden}
            onChange={(ids) => change({ hide: ids.length === 0 ? undefined : ids.join(','), page: search.page })}
          />
          <ViewsMenu search={search} onApply={(view) => void navigate({ search: view })} />
        </Group>
      </Group>
      {error === null && positions.isError && (
        <Box mb="sm">
          <ErrorAlert error={positions.error} onRetry={() => void positions.refetch()} />
        </Box>
      )}
      {error !== null ? (
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="Assets"
            columns={assetColumns}
            hidden={hidden}
            selection={{
              isSelected: ({ asset }) => selected.has(asset.id),
              onChange: select,
              labelOf: ({ asset }) => `Select ${asset.name}`,
            }}
            rows={isBeyondEnd ? undefined : rows}
            rowKey={(row) => String(row.asset.id)}
            sort={search.sort ?? 'external_key'}
            onSort={(sort) => change({ sort })}
            empty={
              hiddenCount > 0 && total > hiddenCount ? (
                <EmptyState icon={<IconBox size={22} />} title="All assets of this page will be deleted">
                  The other pages have {formatNumber(total - hiddenCount)} more.
                </EmptyState>
              ) : isFiltered ? (
                <EmptyState icon={<IconSearch size={22} />} title="No results">
                  Try a shorter search text or another location.
                </EmptyState>
              ) : (
                <EmptyState
                  icon={<IconBox size={24} />}
                  title="No assets yet"
                  action={isManager && <Button onClick={() => setCreating(true)}>Create the first asset</Button>}
                >
                  An asset is any movable object you want to find again: a pallet jack, a case, a bed. Give it a name
                  and a tag: the app then shows where the tag was last read.
                </EmptyState>
              )
            }
          />
        </Paper>
      )}
      <Pager
        page={page}
        size={size}
        total={total}
        rows={rows?.length ?? 0}
        hidden={hiddenCount}
        what="assets"
        onPage={(page) => change({ page: page === 1 ? undefined : page })}
      />
      {selected.size > 0 && <BulkActions assets={[...selected.values()]} onClear={clearSelection} />}
      {isManager && search.create === 'yes' && <NewAsset onClose={() => setCreating(false)} />}
    </Page>
  )
}

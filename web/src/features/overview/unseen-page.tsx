import { Anchor, Paper, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { neverSeenAssets, unseenAssets } from '../../api/overview.ts'
import type { NeverSeenAsset, UnseenAsset } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { IconCheck } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'

const size = 25
const hours = 24

type Row = { asset_id: number; external_key: string; name: string }

const nameColumns = <T extends Row>(): ColumnDef<T>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row: { original } }) => (
      <>
        <AssetLink id={original.asset_id} name={original.name} />
        <Text size="xs" c="dimmed" className="key" hiddenFrom="sm">
          {original.external_key}
        </Text>
      </>
    ),
  },
  {
    id: 'external_key',
    header: 'Key',
    meta: { from: 'sm' },
    cell: ({ row: { original } }) => <span className="key">{original.external_key}</span>,
  },
]

const unseenColumns: ColumnDef<UnseenAsset>[] = [
  ...nameColumns<UnseenAsset>(),
  {
    id: 'location',
    header: 'Location',
    cell: ({ row: { original } }) => <LocationLink id={original.location_id} name={original.location_name} />,
  },
  {
    id: 'seen',
    header: 'Last seen',
    cell: ({ row: { original } }) => <RelativeTime at={original.last_seen_at} />,
  },
]

const neverSeenColumns: ColumnDef<NeverSeenAsset>[] = [
  ...nameColumns<NeverSeenAsset>(),
  {
    id: 'created',
    header: 'Created',
    cell: ({ row: { original } }) => <RelativeTime at={original.created_at} />,
  },
]

/** Assets that were never seen, or not for a day. */
export function UnseenPage() {
  const { show, page = 1 } = useSearch({ from: '/shell/unseen' })
  const navigate = useNavigate({ from: '/unseen' })
  const paging = { limit: size, offset: (page - 1) * size }
  const isNever = show === 'never'
  const unseen = useQuery({ ...unseenAssets({ hours, ...paging }), enabled: !isNever })
  const never = useQuery({ ...neverSeenAssets(paging), enabled: isNever })
  const { data, error, refetch } = isNever ? never : unseen
  // The pager leads to the last page, which is then loaded.
  const isBeyondEnd = data?.data.length === 0 && data.total_count > 0
  return (
    <Page
      title="Unseen assets"
      lead={isNever ? 'Assets without any sighting.' : `Assets whose last sighting is more than ${hours} hours ago.`}
      above={
        <Anchor size="sm" c="dimmed" renderRoot={(props) => <Link to="/" {...props} />}>
          Overview
        </Anchor>
      }
    >
      <SegmentedControl
        aria-label="Show"
        size="xs"
        mb="sm"
        value={show ?? 'recently'}
        onChange={(value) => void navigate({ search: value === 'never' ? { show: value } : {}, replace: true })}
        data={[
          { value: 'recently', label: 'Not seen recently' },
          { value: 'never', label: 'Never seen' },
        ]}
      />
      {error !== null ? (
        <ErrorAlert error={error} onRetry={() => void refetch()} />
      ) : (
        <Paper px="xs" py={4}>
          {isNever ? (
            <DataTable
              label="Assets never seen"
              columns={neverSeenColumns}
              rows={isBeyondEnd ? undefined : never.data?.data}
              rowKey={(one) => String(one.asset_id)}
              empty={<EmptyState icon={<IconCheck size={22} />} title="Every asset was seen at least once" />}
            />
          ) : (
            <DataTable
              label="Assets not seen recently"
              columns={unseenColumns}
              rows={isBeyondEnd ? undefined : unseen.data?.data}
              rowKey={(one) => String(one.asset_id)}
              empty={
                <EmptyState
                  icon={<IconCheck size={22} />}
                  title={`No asset was last seen more than ${hours} hours ago`}
                />
              }
            />
          )}
        </Paper>
      )}
      <Pager
        page={page}
        size={size}
        total={data?.total_count ?? 0}
        rows={data?.data.length ?? 0}
        what="assets"
        onPage={(next) =>
          void navigate({ search: (old) => ({ ...old, page: next === 1 ? undefined : next }) as never, replace: true })
        }
      />
    </Page>
  )
}

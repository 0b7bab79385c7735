import { Anchor, Badge, Button, Paper, SegmentedControl, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { Fragment } from 'react'
import { listReaders, listUnknownTags } from '../../api/readers.ts'
import type { Reader } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { usePendingDeletions } from '../../components/delete-with-undo.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconAntenna, IconInbox, IconPlus } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager, rowsOfPage } from '../../components/pager.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { readerHealth } from '../../lib/reader-health.ts'
import { formatNumber } from '../../lib/time.ts'
import { AddReader } from './add-reader.tsx'
import { formatLabel } from './formats.ts'

const healthColor = { good: 'harbor', silent: 'yellow', new: 'gray', warning: 'yellow' } as const

export function HealthBadge({ reader }: { reader: Reader }) {
  const { kind, label } = readerHealth(reader)
  return (
    <Badge color={healthColor[kind]} miw="max-content">
      {label}
    </Badge>
  )
}

const maxAntennas = 4

/** Says how many antennas a row does not show. The page of the reader has all of them. */
function MoreAntennas({ reader: { id, scan_points: all } }: { reader: Reader }) {
  if (all.length <= maxAntennas) return null
  return (
    <Anchor
      size="xs"
      c="dimmed"
      underline="always"
      renderRoot={(props) => <Link to="/readers/$readerId" params={{ readerId: String(id) }} {...props} />}
    >
      and {formatNumber(all.length - maxAntennas)} more
    </Anchor>
  )
}

const columns: ColumnDef<Reader>[] = [
  {
    id: 'name',
    header: 'Name',
    cell: ({ row: { original } }) => (
      <>
        <Link to="/readers/$readerId" params={{ readerId: String(original.id) }} className="row-link">
          {original.name}
        </Link>
        <Text size="xs" c="dimmed">
          {formatLabel(original.format)}
        </Text>
        {original.scan_points.length > 0 && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            Antennas:{' '}
            {original.scan_points.slice(0, maxAntennas).map((point, index) => (
              <Fragment key={point.antenna}>
                {index > 0 && ', '}
                <LocationLink id={point.location_id} fallback={point.location_external_key ?? null} />
              </Fragment>
            ))}{' '}
            <MoreAntennas reader={original} />
          </Text>
        )}
      </>
    ),
  },
  {
    id: 'locations',
    header: 'Antennas',
    meta: { from: 'sm' },
    cell: ({ row: { original } }) =>
      original.scan_points.length === 0 ? (
        <Text size="sm" c="dimmed">
          No antennas
        </Text>
      ) : (
        <>
          {original.scan_points.slice(0, maxAntennas).map((point) => (
            <Text size="sm" key={point.antenna}>
              <Text span c="dimmed" size="xs">
                {point.antenna}{' '}
              </Text>
              <LocationLink id={point.location_id} fallback={point.location_external_key ?? null} />
            </Text>
          ))}
          <MoreAntennas reader={original} />
        </>
      ),
  },
  {
    id: 'health',
    header: 'Health',
    cell: ({ row: { original } }) => (
      <>
        <HealthBadge reader={original} />
        {original.last_seen_at !== null && (
          <Text size="xs" c="dimmed" hiddenFrom="md">
            <RelativeTime at={original.last_seen_at} />
          </Text>
        )}
      </>
    ),
  },
  {
    id: 'seen',
    header: 'Last message',
    meta: { from: 'md' },
    cell: ({ row: { original } }) => <RelativeTime at={original.last_seen_at} />,
  },
  {
    id: 'reads',
    header: 'Reads',
    meta: { from: 'sm', align: 'right' },
    cell: ({ row: { original } }) => <span className="number">{formatNumber(original.reads)}</span>,
  },
  {
    id: 'ignored',
    header: 'Ignored',
    meta: { from: 'md', align: 'right' },
    cell: ({ row: { original } }) => <span className="number">{formatNumber(original.ignored)}</span>,
  },
]

const size = 25

export function ReadersPage() {
  const isManager = useHasRole('manager')
  const { create, show, page = 1 } = useSearch({ from: '/shell/readers' })
  const navigate = useNavigate({ from: '/readers' })
  const setCreating = (isOpen: boolean): void =>
    void navigate({ search: (old) => ({ ...old, create: isOpen ? 'yes' : undefined }) as never, replace: true })
  const isSilent = show === 'silent' ? true : undefined
  const readers = useQuery(listReaders({ is_silent: isSilent, limit: size, offset: (page - 1) * size }))
  const deleting = usePendingDeletions()
  const rows = rowsOfPage(readers.data)?.filter((one) => !deleting.has(one.id))
  const total = readers.data?.total_count ?? 0
  const hiddenCount = rows === undefined ? 0 : (readers.data?.data.length ?? 0) - rows.length
  const inbox = useQuery(listUnknownTags({ limit: 1, offset: 0 }))
  const unknown = inbox.data?.total_count ?? 0
  return (
    <Page
      title="Readers"
      lead="Devices that report tag reads. Each antenna covers one location."
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconInbox size={16} />}
            renderRoot={(props) => <Link to="/readers/inbox" {...props} />}
          >
            Inbox{unknown > 0 ? ` (${formatNumber(unknown)})` : ''}
          </Button>
          {isManager && (
            <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
              Create reader
            </Button>
          )}
        </>
      }
    >
      <SegmentedControl
        aria-label="Show"
        size="xs"
        mb="sm"
        value={show ?? 'all'}
        onChange={(value) => void navigate({ search: value === 'silent' ? { show: value } : {}, replace: true })}
        data={[
          { value: 'all', label: 'All readers' },
          { value: 'silent', label: 'Silent' },
        ]}
      />
      {readers.isError ? (
        <ErrorAlert error={readers.error} onRetry={() => void readers.refetch()} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="Readers"
            columns={columns}
            rows={rows}
            rowKey={(one) => String(one.id)}
            empty={
              hiddenCount > 0 && total > hiddenCount ? (
                <EmptyState icon={<IconAntenna size={24} />} title="All readers of this page will be deleted">
                  The other pages have {formatNumber(total - hiddenCount)} more.
                </EmptyState>
              ) : isSilent ? (
                <EmptyState icon={<IconAntenna size={24} />} title="No reader is silent">
                  Every reader sent a message within the last 15 minutes.
                </EmptyState>
              ) : (
                <EmptyState
                  icon={<IconAntenna size={24} />}
                  title="No readers yet"
                  action={isManager && <Button onClick={() => setCreating(true)}>Create the first reader</Button>}
                >
                  Fixed RFID readers, BLE gateways and handhelds report over HTTP or MQTT. Create a reader, assign a
                  location to each antenna, and copy the settings into the device.
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
        rows={readers.data?.data.length ?? 0}
        hidden={hiddenCount}
        onPage={(next) =>
          void navigate({ search: (old) => ({ ...old, page: next === 1 ? undefined : next }) as never })
        }
        what="readers"
      />
      {isManager && create === 'yes' && <AddReader onClose={() => setCreating(false)} />}
    </Page>
  )
}

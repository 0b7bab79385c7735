import { Anchor, Badge, Button, Group, Paper, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { ColumnDef } from '@tanstack/react-table'
import { useState } from 'react'
import { allReaders, attachUnknownTag, listUnknownTags, maxUnknownTags } from '../../api/readers.ts'
import { refreshOverview } from '../../api/overview.ts'
import type { UnknownTag } from '../../api/types.ts'
import { AttachCode } from '../../components/attach-code.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconInbox } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { Pager, rowsOfPage } from '../../components/pager.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { tagLabel } from '../../lib/tags.ts'
import { counted, formatNumber } from '../../lib/time.ts'
import { UnknownReaders } from './unknown-readers.tsx'

const size = 25

export function InboxPage() {
  const isManager = useHasRole('manager')
  const queries = useQueryClient()
  const { page = 1 } = useSearch({ from: '/shell/readers/inbox' })
  const navigate = useNavigate({ from: '/readers/inbox' })
  const [selected, setSelected] = useState<UnknownTag | null>(null)
  const inbox = useQuery(listUnknownTags({ limit: size, offset: (page - 1) * size }))
  const readers = useQuery(allReaders())
  const nameOf = (id: number | null): string => readers.data?.find((one) => one.id === id)?.name ?? 'a reader'
  const columns: ColumnDef<UnknownTag>[] = [
    {
      id: 'value',
      header: 'Tag',
      cell: ({ row: { original } }) => (
        <>
          <Group gap={8}>
            <Badge color="gray">{tagLabel(original.tag_type)}</Badge>
            <span className="key">{original.value}</span>
          </Group>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {nameOf(original.reader_id)}, {counted(original.reads, 'read')}, <RelativeTime at={original.last_seen_at} />
          </Text>
        </>
      ),
    },
    {
      id: 'reader',
      header: 'Read by',
      meta: { from: 'sm' },
      cell: ({ row: { original } }) => (
        <Text size="sm">
          {nameOf(original.reader_id)}
          {original.antenna !== null && (
            <Text span size="xs" c="dimmed">
              {' '}
              antenna {original.antenna}
            </Text>
          )}
        </Text>
      ),
    },
    {
      id: 'reads',
      header: 'Reads',
      meta: { align: 'right', from: 'sm' },
      cell: ({ row: { original } }) => <span className="number">{formatNumber(original.reads)}</span>,
    },
    {
      id: 'last',
      header: 'Last read',
      meta: { from: 'md' },
      cell: ({ row: { original } }) => <RelativeTime at={original.last_seen_at} />,
    },
    {
      id: 'act',
      header: '',
      meta: { align: 'right' },
      cell: ({ row: { original } }) =>
        isManager && (
          <Button
            size="compact-sm"
            variant="light"
            aria-label={`Attach ${original.value}`}
            onClick={() => setSelected(original)}
          >
            Attach
          </Button>
        ),
    },
  ]
  return (
    <Page
      title="Inbox"
      lead="Tags and readers that are not registered yet."
      above={
        <Anchor size="sm" c="dimmed" renderRoot={(props) => <Link to="/readers" {...props} />}>
          Readers
        </Anchor>
      }
    >
      <Title order={2} mb="xs">
        Unassigned tags
      </Title>
      {inbox.isError ? (
        <ErrorAlert error={inbox.error} onRetry={() => void inbox.refetch()} />
      ) : (
        <Paper px="xs" py={4}>
          <DataTable
            label="Unassigned tags"
            columns={columns}
            rows={rowsOfPage(inbox.data)}
            rowKey={(one) => `${one.tag_type}-${one.value}`}
            empty={
              <EmptyState icon={<IconInbox size={24} />} title="No unassigned tags">
                Tags that readers read but that are attached to no asset or location appear here. The inbox keeps the{' '}
                {formatNumber(maxUnknownTags)} tags that were seen last.
              </EmptyState>
            }
          />
        </Paper>
      )}
      <Pager
        page={page}
        size={size}
        total={inbox.data?.total_count ?? 0}
        rows={inbox.data?.data.length ?? 0}
        onPage={(next) => void navigate({ search: next === 1 ? {} : { page: next } })}
        what="tags"
      />
      {(inbox.data?.total_count ?? 0) >= maxUnknownTags && (
        <Text size="xs" c="dimmed">
          The inbox keeps the {formatNumber(maxUnknownTags)} tags that were seen last.
        </Text>
      )}
      {isManager && <UnknownReaders />}
      {selected !== null && (
        <AttachCode
          title="Attach this tag"
          code={selected.value}
          type={selected.tag_type}
          attach={attachUnknownTag}
          onClose={() => setSelected(null)}
          onDone={() => {
            setSelected(null)
            void queries.invalidateQueries({ queryKey: ['inbox'] })
            refreshOverview(queries)
          }}
        />
      )}
    </Page>
  )
}

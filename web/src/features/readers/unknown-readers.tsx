import { Button, Paper, Stack, Text, Title } from '@mantine/core'
import { useInterval } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { ColumnDef } from '@tanstack/react-table'
import { useState } from 'react'
import { maxUnknownTopics, unknownReaders } from '../../api/readers.ts'
import type { UnknownTopic } from '../../api/types.ts'
import { DataTable } from '../../components/data-table.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { isListInUse } from '../../components/use-list-in-use.ts'
import { counted, formatNumber } from '../../lib/time.ts'
import { AddReader } from './add-reader.tsx'

const pollMs = 3000

const columns = (onAdd: (topicKey: string) => void): ColumnDef<UnknownTopic>[] => [
  {
    id: 'topic',
    header: 'Topic',
    cell: ({ row: { original } }) => (
      <>
        <span className="key">{original.topic}</span>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {counted(original.messages, 'message')}, <RelativeTime at={original.last_seen_at} />
        </Text>
      </>
    ),
  },
  {
    id: 'messages',
    header: 'Messages',
    meta: { align: 'right', from: 'sm' },
    cell: ({ row: { original } }) => <span className="number">{formatNumber(original.messages)}</span>,
  },
  {
    id: 'last',
    header: 'Last message',
    meta: { from: 'md' },
    cell: ({ row: { original } }) => <RelativeTime at={original.last_seen_at} />,
  },
  {
    id: 'act',
    header: '',
    meta: { align: 'right' },
    cell: ({ row: { original } }) =>
      original.topic_key !== null && (
        <Button
          size="compact-sm"
          variant="light"
          aria-label={`Create reader: ${original.topic}`}
          onClick={() => onAdd(original.topic_key!)}
        >
          Create reader
        </Button>
      ),
  },
]

/** Topics of the external broker that belong to no reader. Shown to users who may add readers. */
export function UnknownReaders() {
  const unknown = useQuery(unknownReaders())
  // The live stream has no event for these topics, so the page polls.
  useInterval(() => void (!document.hidden && !isListInUse() && unknown.refetch()), pollMs, { autoInvoke: true })
  const [topicKey, setTopicKey] = useState<string | null>(null)
  return (
    <Stack gap="xs" mt="xl" component="section">
      <Title order={2}>Unregistered readers</Title>
      <QueryView query={unknown} rows={2}>
        {({ reason, topics }) =>
          reason !== null ? (
            <Text size="sm" c="dimmed">
              This server hosts several organizations, so unregistered readers are not listed. Ask its operator.
            </Text>
          ) : topics.length === 0 ? (
            <Text size="sm" c="dimmed">
              None. A topic appears here when your MQTT broker delivers messages under a topic that belongs to no
              reader.
            </Text>
          ) : (
            <Paper px="xs" py={4}>
              <DataTable
                label="Unregistered readers"
                columns={columns(setTopicKey)}
                rows={topics}
                rowKey={(one) => one.topic}
              />
              {topics.length >= maxUnknownTopics && (
                <Text size="xs" c="dimmed" p={6}>
                  The {formatNumber(maxUnknownTopics)} topics with the latest messages.
                </Text>
              )}
            </Paper>
          )
        }
      </QueryView>
      {topicKey !== null && <AddReader topicKey={topicKey} onClose={() => setTopicKey(null)} />}
    </Stack>
  )
}

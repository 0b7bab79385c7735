import { Anchor, Box, Button, Grid, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { allUnknownTags, deleteReader, oneReader, readerConnection } from '../../api/readers.ts'
import type { NewReader, Reader } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'
import { deleteWithUndo } from '../../components/delete-with-undo.tsx'
import { IconKey, IconPencil, IconTrash } from '../../components/icons.ts'
import { Skeleton } from '../../components/skeleton.tsx'
import { Card, Fact, Page } from '../../components/page.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RecordErrorPage } from '../../components/record-error-page.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { counted, dateTime, formatNumber } from '../../lib/time.ts'
import { formatLabel } from './formats.ts'
import { LiveReads } from './live-reads.tsx'
import { ReaderForm } from './reader-form.tsx'
import { HealthBadge } from './readers-page.tsx'
import { ReplaceToken } from './replace-token.tsx'
import { ReaderToken } from './reader-token.tsx'
import { Snippets } from './snippets.tsx'

export function ReaderPage() {
  const { readerId } = useParams({ from: '/shell/readers/$readerId' })
  const reader = useQuery(oneReader(Number(readerId)))
  if (reader.data !== undefined) return <Loaded key={readerId} reader={reader.data} />
  if (reader.isError)
    return (
      <RecordErrorPage
        recordType="Reader"
        list={{ to: '/readers', label: 'Readers' }}
        error={reader.error}
        onRetry={() => void reader.refetch()}
      />
    )
  return (
    <Box className="app-page">
      <Skeleton />
    </Box>
  )
}

function Activity({ reader }: { reader: Reader }) {
  const inbox = useQuery(allUnknownTags())
  const unknownTags = inbox.data?.filter((one) => one.reader_id === reader.id) ?? []
  return (
    <Card title="Activity" aside={<HealthBadge reader={reader} />}>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Fact label="Last message">
          <RelativeTime at={reader.last_seen_at} />
        </Fact>
        <Fact label="Messages">{formatNumber(reader.messages)}</Fact>
        <Fact label="Accepted reads">{formatNumber(reader.reads)}</Fact>
        <Fact label="Ignored reads">{formatNumber(reader.ignored)}</Fact>
      </SimpleGrid>
      {reader.warning !== null && reader.warning !== '' && (
        <Text size="sm" mt="sm">
          Last warning: {reader.warning}
        </Text>
      )}
      {unknownTags.length > 0 && (
        <Text size="sm" mt="sm">
          This reader read {counted(unknownTags.length, 'unassigned tag')}.{' '}
          <Anchor inherit underline="always" renderRoot={(props) => <Link to="/readers/inbox" {...props} />}>
            Open the inbox
          </Anchor>
        </Text>
      )}
    </Card>
  )
}

function Loaded({ reader }: { reader: Reader }) {
  const isManager = useHasRole('manager')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const connection = useQuery({ ...readerConnection(reader.id), enabled: isManager })
  const [open, setOpen] = useState<'edit' | 'token' | 'delete' | null>(null)
  const [withToken, setWithToken] = useState<NewReader | null>(null)
  const onDelete = async (): Promise<void> => {
    deleteWithUndo(reader.name, [reader.id], deleteReader, () => queries.invalidateQueries({ queryKey: ['readers'] }))
    await navigate({ to: '/readers' })
  }
  return (
    <Page
      title={reader.name}
      above={
        <Anchor size="sm" c="dimmed" renderRoot={(props) => <Link to="/readers" {...props} />}>
          Readers
        </Anchor>
      }
      lead={formatLabel(reader.format)}
      actions={
        isManager && (
          <>
            <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setOpen('edit')}>
              Edit
            </Button>
            <Button variant="default" leftSection={<IconKey size={16} />} onClick={() => setOpen('token')}>
              Replace token
            </Button>
            <Button variant="default" leftSection={<IconTrash size={16} />} onClick={() => setOpen('delete')}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Stack>
            <Activity reader={reader} />
            {isManager && <LiveReads readerId={reader.id} />}
            <Card title="Antennas">
              {reader.scan_points.length === 0 ? (
                <Text size="sm" c="dimmed">
                  No antennas. Its reads are recorded without a location.
                </Text>
              ) : (
                <Table aria-label="Antennas">
                  <Table.Tbody>
                    {reader.scan_points.map((point) => (
                      <Table.Tr key={point.antenna}>
                        <Table.Td w={60} className="number">
                          {point.antenna}
                        </Table.Td>
                        <Table.Td>
                          <LocationLink id={point.location_id} fallback={point.location_external_key ?? null} />
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              )}
              {reader.unknown_antennas.length > 0 && (
                <Text size="sm" mt="sm">
                  Reads from antennas that are not listed:{' '}
                  {reader.unknown_antennas.map((one) => `${one.antenna} (${counted(one.reads, 'read')})`).join(', ')}.
                  These reads are recorded without a location.
                </Text>
              )}
            </Card>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Card title="Device settings">
            {isManager ? (
              <QueryView query={connection}>
                {({ ingest_url: ingestUrl, mqtt }) => (
                  <Snippets format={reader.format} connection={{ ingestUrl, token: null, mqtt }} />
                )}
              </QueryView>
            ) : (
              <Snippets
                format={reader.format}
                connection={{ ingestUrl: `${window.location.origin}/ingest/v1/reads`, token: null, mqtt: null }}
              />
            )}
            <Group mt="sm">
              <Text size="xs" c="dimmed">
                The token was shown when the reader was created. If it is lost, replace it.
              </Text>
            </Group>
          </Card>
        </Grid.Col>
      </Grid>
      {open === 'edit' && <ReaderForm reader={reader} onClose={() => setOpen(null)} />}
      {open === 'token' && <ReplaceToken reader={reader} onReplaced={setWithToken} onClose={() => setOpen(null)} />}
      {withToken !== null && (
        <ReaderToken reader={withToken} heading="Give the device its new token" onClose={() => setWithToken(null)}>
          {withToken.previous_token_expires_at !== null && (
            <Text size="sm">The old token works until {dateTime(withToken.previous_token_expires_at)}.</Text>
          )}
        </ReaderToken>
      )}
      <Confirm
        opened={open === 'delete'}
        title={`Delete ${reader.name}?`}
        verb="Delete reader"
        onConfirm={onDelete}
        onClose={() => setOpen(null)}
      >
        You can undo this for 30 seconds. After that its token stops working, and its antennas and settings are gone.
        The sightings from its past reads are kept.
      </Confirm>
    </Page>
  )
}

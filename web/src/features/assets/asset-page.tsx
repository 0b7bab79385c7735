import { Anchor, Badge, Box, Button, Grid, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteAsset, listHistory, listPositions, oneAsset } from '../../api/assets.ts'
import { refreshOverview } from '../../api/overview.ts'
import type { Asset } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'
import { IconMapPin } from '../../components/icons.ts'
import { Card, Fact, Page } from '../../components/page.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { deleteWithUndo } from '../../components/delete-with-undo.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { type RecordAction, RecordActions } from '../../components/record-actions.tsx'
import { RecordErrorPage } from '../../components/record-error-page.tsx'
import { RenameKey } from '../../components/rename-key.tsx'
import { TagsCard } from '../../components/tags-card.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { dateTime, duration } from '../../lib/time.ts'
import { EditAsset } from './edit-asset.tsx'
import { HistoryCard } from './history-card.tsx'
import { mergeHistory } from './merge-history.ts'
import { SetLocation } from './set-location.tsx'

function CurrentLocationCard({ assetId }: { assetId: number }) {
  const isOperator = useHasRole('operator')
  const position = useQuery(listPositions({ asset_id: [assetId], limit: 1, offset: 0 }))
  const history = useQuery(listHistory(assetId, { limit: 200, offset: 0 }))
  const row = position.data?.data[0]
  const stay = mergeHistory(history.data?.data ?? [], Date.now()).at(-1)
  const isCompleteStay =
    (history.data?.total_count ?? 0) <= 200 ||
    (stay !== undefined && history.data?.data.some((one) => one.location_id !== stay.locationId))
  return (
    <Card title="Current location">
      {position.isError && <ErrorAlert error={position.error} />}
      {/* The skeleton has the height of the details, so that the content below does not shift when they are loaded. */}
      <Box mih={{ base: 98, sm: 42 }}>
        {position.isSuccess && row === undefined && (
          <Text size="sm" c="dimmed">
            Never seen.{' '}
            {isOperator && (
              <>
                Attach a tag that a reader can read, or{' '}
                <Anchor inherit underline="always" renderRoot={(props) => <Link to="/scan" {...props} />}>
                  scan the asset
                </Anchor>{' '}
                at its current location.
              </>
            )}
          </Text>
        )}
        {(position.isPending || row !== undefined) && (
          <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="md">
            <Fact label="Location">
              {row === undefined ? (
                <Placeholder />
              ) : (
                <Text fw={650} span>
                  <LocationLink id={row.location_id} fallback={row.location_external_key} />
                </Text>
              )}
            </Fact>
            <Fact label="Last seen">
              {row === undefined ? <Placeholder /> : <RelativeTime at={row.asset_last_seen} />}
            </Fact>
            {row !== undefined && stay !== undefined && (
              <Fact label="At this location for">
                {isCompleteStay ? '' : 'at least '}
                {duration((Date.now() - stay.from) / 1000)}
              </Fact>
            )}
          </SimpleGrid>
        )}
      </Box>
    </Card>
  )
}

const Placeholder = () => <Skeleton rows={1} height={22} />

function Details({ asset }: { asset: Asset }) {
  const entries = Object.entries(asset.metadata)
  return (
    <Card title="Details">
      <Stack gap="sm">
        {asset.description !== null && (
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
            {asset.description}
          </Text>
        )}
        <SimpleGrid cols={2} spacing="sm">
          <Fact label="Valid from">{dateTime(asset.valid_from)}</Fact>
          <Fact label="Valid to">{asset.valid_to === null ? 'No end' : dateTime(asset.valid_to)}</Fact>
          <Fact label="Created">
            <RelativeTime at={asset.created_at} />
          </Fact>
          <Fact label="Changed">
            <RelativeTime at={asset.updated_at} />
          </Fact>
        </SimpleGrid>
        {entries.length > 0 && (
          <Table aria-label="Metadata" withRowBorders layout="fixed">
            <Table.Tbody>
              {entries.map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th scope="row" fz="sm" fw={550}>
                    {name}
                  </Table.Th>
                  <Table.Td className={typeof value === 'object' ? 'key' : ''}>
                    {typeof value === 'string' ? value : JSON.stringify(value)}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Stack>
    </Card>
  )
}

export function AssetPage() {
  const { assetId } = useParams({ from: '/shell/assets/$assetId' })
  const id = Number(assetId)
  const asset = useQuery(oneAsset(id))
  if (asset.data !== undefined) return <Loaded key={id} asset={asset.data} />
  if (asset.isError)
    return (
      <RecordErrorPage
        recordType="Asset"
        list={{ to: '/assets', label: 'Assets' }}
        error={asset.error}
        onRetry={() => void asset.refetch()}
      />
    )
  return (
    <Box className="app-page">
      <Skeleton />
    </Box>
  )
}

function Loaded({ asset }: { asset: Asset }) {
  const isManager = useHasRole('manager')
  const isOperator = useHasRole('operator')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [open, setOpen] = useState<RecordAction | 'location' | null>(null)
  const close = (): void => setOpen(null)
  const onDelete = async (): Promise<void> => {
    deleteWithUndo(asset.name, [asset.id], deleteAsset, () => {
      refreshOverview(queries)
      return queries.invalidateQueries({ queryKey: ['assets'] })
    })
    await navigate({ to: '/assets' })
  }
  return (
    <Page
      title={asset.name}
      above={
        <Anchor size="sm" c="dimmed" renderRoot={(props) => <Link to="/assets" {...props} />}>
          Assets
        </Anchor>
      }
      lead={
        <Group gap={8}>
          <span className="key">{asset.external_key}</span>
          {!asset.is_active && <Badge color="gray">inactive</Badge>}
        </Group>
      }
      actions={
        <>
          {isOperator && (
            <Button variant="default" leftSection={<IconMapPin size={16} />} onClick={() => setOpen('location')}>
              Set location
            </Button>
          )}
          <RecordActions onOpen={setOpen} />
        </>
      }
    >
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <CurrentLocationCard assetId={asset.id} />
            <HistoryCard assetId={asset.id} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <TagsCard kind="assets" id={asset.id} tags={asset.tags} mayEdit={isManager} />
            <Details asset={asset} />
          </Stack>
        </Grid.Col>
      </Grid>
      {open === 'location' && <SetLocation assets={[asset]} onClose={close} />}
      {open === 'edit' && <EditAsset asset={asset} onClose={close} />}
      {open === 'rename' && (
        <RenameKey kind="assets" id={asset.id} current={asset.external_key} opened onClose={close} />
      )}
      <Confirm
        opened={open === 'delete'}
        title={`Delete ${asset.name}?`}
        verb="Delete asset"
        onConfirm={onDelete}
        onClose={close}
      >
        The asset is removed from all lists and its tags are detached. Its past moves stay in the reports. You can undo
        this for 30 seconds.
      </Confirm>
    </Page>
  )
}

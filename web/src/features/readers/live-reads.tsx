import { Badge, Group, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { latestReads } from '../../api/readers.ts'
import type { LatestRead } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { AssetLink, PlaceLink } from '../../components/place-link.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { exact, toTheSecond } from '../../lib/time.ts'
import { tagLabel } from '../../lib/tags.ts'

const most = 15

function Holder({ read: { holder } }: { read: LatestRead }) {
  if (holder === null)
    return (
      <Text span size="xs" c="dimmed">
        hangs on nothing
      </Text>
    )
  return holder.kind === 'asset' ? (
    <AssetLink id={holder.id} name={holder.name} />
  ) : (
    <PlaceLink id={holder.id} fallback={holder.name} />
  )
}

function Row({ read }: { read: LatestRead }) {
  const at = read.observed_at ?? read.received_at
  return (
    <Table.Tr>
      <Table.Td className="number" style={{ whiteSpace: 'nowrap' }}>
        <time dateTime={at} title={exact(at)}>
          {toTheSecond(at)}
        </time>
      </Table.Td>
      <Table.Td>
        <Holder read={read} />
        <Group gap={6} wrap="nowrap">
          <Badge color="gray" size="xs">
            {tagLabel(read.tag_type)}
          </Badge>
          <Text span size="xs" className="key" c="dimmed">
            {read.value}
          </Text>
        </Group>
      </Table.Td>
      <Table.Td ta="right" className="number">
        {read.antenna}
      </Table.Td>
      <Table.Td ta="right" className="number" style={{ whiteSpace: 'nowrap' }}>
        {read.rssi_dbm === null ? '–' : `${read.rssi_dbm} dBm`}
      </Table.Td>
    </Table.Tr>
  )
}

/** What the reader reads just now: which tag, at which antenna, how strong, when. */
export function LiveReads({ readerId }: { readerId: number }) {
  const reads = useQuery(latestReads(readerId))
  return (
    <Card title="Live reads">
      <QueryView query={reads} rows={3}>
        {(all) =>
          all.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing yet. Hold a tag before an antenna: what is read shows here within two seconds.
            </Text>
          ) : (
            <div className="table-wrap">
              <Table aria-label="Live reads" fz="sm">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Read at</Table.Th>
                    <Table.Th>Tag</Table.Th>
                    <Table.Th ta="right">Antenna</Table.Th>
                    <Table.Th ta="right">Signal</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {all.slice(0, most).map((read, index) => (
                    <Row key={`${read.received_at} ${read.value} ${index}`} read={read} />
                  ))}
                </Table.Tbody>
              </Table>
            </div>
          )
        }
      </QueryView>
    </Card>
  )
}

import { Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { latestReads } from '../../api/readers.ts'
import type { LatestRead } from '../../api/types.ts'
import { Card } from '../../components/page.tsx'
import { AssetLink, LocationLink } from '../../components/record-links.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useListInUse } from '../../components/use-list-in-use.ts'
import { exactDateTime, formatNumber, timeWithSeconds } from '../../lib/time.ts'
import { tagLabel } from '../../lib/tags.ts'

const maxRows = 15

function TagOwner({ read: { owner } }: { read: LatestRead }) {
  if (owner === null)
    return (
      <Text span size="xs" c="dimmed">
        Unassigned
      </Text>
    )
  return owner.kind === 'asset' ? (
    <AssetLink id={owner.id} name={owner.name} />
  ) : (
    <LocationLink id={owner.id} fallback={owner.name} />
  )
}

const signalText = ({ rssi_dbm: dbm }: LatestRead): string => (dbm === null ? '–' : `${formatNumber(dbm)} dBm`)

function Row({ read }: { read: LatestRead }) {
  const at = read.observed_at ?? read.received_at
  return (
    <Table.Tr>
      <Table.Td className="number" style={{ whiteSpace: 'nowrap' }}>
        <time dateTime={at} title={exactDateTime(at)}>
          {timeWithSeconds(at)}
        </time>
      </Table.Td>
      <Table.Td>
        <TagOwner read={read} />
        <Text size="xs" c="dimmed">
          {tagLabel(read.tag_type)} <span className="key">{read.value}</span>
        </Text>
        <Text size="xs" c="dimmed" hiddenFrom="xs">
          antenna {read.antenna}, {signalText(read)}
        </Text>
      </Table.Td>
      <Table.Td ta="right" className="number" visibleFrom="xs">
        {read.antenna}
      </Table.Td>
      <Table.Td ta="right" className="number" visibleFrom="xs" style={{ whiteSpace: 'nowrap' }}>
        {signalText(read)}
      </Table.Td>
    </Table.Tr>
  )
}

/** The latest reads: time, tag, antenna and signal strength. The rows stay in place while the list is in use. */
export function LiveReads({ readerId }: { readerId: number }) {
  const reads = useQuery(latestReads(readerId))
  const { isInUse, handlers } = useListInUse()
  const kept = useRef<readonly LatestRead[]>([])
  if (!isInUse) kept.current = reads.data ?? []
  return (
    <Card
      title="Live reads"
      aside={
        isInUse && (
          <Text size="xs" c="dimmed">
            paused
          </Text>
        )
      }
    >
      <QueryView query={reads} rows={3}>
        {() =>
          kept.current.length === 0 ? (
            <Text size="sm" c="dimmed">
              No reads yet. Hold a tag in front of an antenna: the read appears here within two seconds.
            </Text>
          ) : (
            <div className="table-wrap" {...handlers}>
              <Table aria-label="Live reads" fz="sm">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Read at</Table.Th>
                    <Table.Th>Tag</Table.Th>
                    <Table.Th ta="right" visibleFrom="xs">
                      Antenna
                    </Table.Th>
                    <Table.Th ta="right" visibleFrom="xs">
                      Signal
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {kept.current.slice(0, maxRows).map((read, index) => (
                    <Row key={`${read.received_at} ${read.value} ${index}`} read={read} />
                  ))}
                </Table.Tbody>
              </Table>
              {kept.current.length > maxRows && (
                <Text size="xs" c="dimmed" mt="xs">
                  The latest {maxRows} reads.
                </Text>
              )}
            </div>
          )
        }
      </QueryView>
    </Card>
  )
}

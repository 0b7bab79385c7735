import { Alert, Badge, Table, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { get } from '../../api/request.ts'
import type { List, Webhook, WebhookAttempt } from '../../api/types.ts'
import { IconAlertTriangle } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { dateTime, formatNumber } from '../../lib/time.ts'

/** The live stream has no event for attempts, so the page polls. */
export const pollMs = 15_000

const attemptsOf = (hook: Webhook) =>
  queryOptions({
    queryKey: ['webhooks', hook.id, 'attempts'],
    queryFn: ({ signal }) => get<List<WebhookAttempt>>(`/webhooks/${hook.id}/attempts`, { limit: 25 }, signal),
    refetchInterval: pollMs,
  })

export const isDelivered = ({ status }: { status: number | null }): boolean =>
  status !== null && status >= 200 && status < 300

function FailureAlert({ since, latest }: { since: string; latest: WebhookAttempt | undefined }) {
  return (
    <Alert
      color="red"
      icon={<IconAlertTriangle size={18} />}
      title="Webhook deliveries are failing"
      role="alert"
      mb="sm"
    >
      <Text size="sm">No delivery has succeeded since {dateTime(since)}.</Text>
      {latest !== undefined && (
        <Text size="sm">
          Last error: {latest.status === null ? 'no response' : `HTTP ${latest.status}`}
          {latest.error !== null && `, ${latest.error}`}
        </Text>
      )}
    </Alert>
  )
}

/** The latest attempts to deliver events, and since when they fail. */
export function RecentAttempts({ hook }: { hook: Webhook }) {
  const attempts = useQuery(attemptsOf(hook))
  return (
    <Card title="Recent attempts">
      {hook.enabled && hook.failing_since !== null && (
        <FailureAlert since={hook.failing_since} latest={attempts.data?.data.find((one) => !isDelivered(one))} />
      )}
      <QueryView query={attempts} rows={3}>
        {({ data, total_count: total }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No deliveries yet.
            </Text>
          ) : (
            <div className="table-wrap">
              <Table aria-label="Recent attempts">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th fz="xs">When</Table.Th>
                    <Table.Th fz="xs">Response</Table.Th>
                    <Table.Th fz="xs">Attempt</Table.Th>
                    <Table.Th fz="xs" visibleFrom="sm">
                      Delivery
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((one) => (
                    <Table.Tr key={`${one.delivery_id}-${one.attempt}-${one.attempted_at}`}>
                      <Table.Td>
                        <RelativeTime at={one.attempted_at} />
                      </Table.Td>
                      <Table.Td>
                        <Badge color={isDelivered(one) ? 'harbor' : 'red'}>
                          {one.status === null ? 'no response' : `HTTP ${one.status}`}
                        </Badge>{' '}
                        <Text size="xs" c="dimmed" span>
                          {one.error ?? ''} {one.duration_ms} ms
                        </Text>
                        <Text size="xs" c="dimmed" className="key" hiddenFrom="sm">
                          {one.delivery_id}
                        </Text>
                      </Table.Td>
                      <Table.Td className="number">{one.attempt}</Table.Td>
                      <Table.Td className="key" visibleFrom="sm">
                        {one.delivery_id}
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
              {total > data.length && (
                <Text size="xs" c="dimmed" mt="xs">
                  The latest {formatNumber(data.length)} of {formatNumber(total)} attempts in the last seven days.
                </Text>
              )}
            </div>
          )
        }
      </QueryView>
    </Card>
  )
}

import { Group, Pagination, Text, useMatches } from '@mantine/core'
import { formatNumber } from '../lib/time.ts'

/** Shows which rows of how many are visible, and links to the other pages. */
export function Pager({
  page,
  size,
  total,
  onPage,
  what,
}: {
  page: number
  size: number
  total: number
  onPage: (page: number) => void
  what: string
}) {
  const siblings = useMatches({ base: 0, sm: 1 })
  if (total === 0) return null
  const first = (page - 1) * size + 1
  const pages = Math.max(1, Math.ceil(total / size))
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="xs" c="dimmed" className="number" aria-live="polite">
        {formatNumber(first)}–{formatNumber(Math.min(page * size, total))} of {formatNumber(total)} {what}
      </Text>
      {pages > 1 && (
        <Pagination
          size="sm"
          gap={4}
          total={pages}
          value={page}
          onChange={onPage}
          siblings={siblings}
          boundaries={1}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        />
      )}
    </Group>
  )
}

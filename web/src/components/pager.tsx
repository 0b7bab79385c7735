import { Group, Pagination, Text, useMatches } from '@mantine/core'
import { useEffect } from 'react'
import { formatNumber } from '../lib/time.ts'

/** The rows of a page; undefined, as while they are loaded, when the page is beyond the end and the pager leads to the last. */
export const rowsOfPage = <T,>(
  list: { data: readonly T[]; total_count: number } | undefined,
): readonly T[] | undefined =>
  list === undefined || (list.data.length === 0 && list.total_count > 0) ? undefined : list.data

/** Shows which rows of how many are visible, and links to the other pages. A page beyond the end leads to the last page. */
export function Pager({
  page,
  size,
  total,
  rows,
  hidden = 0,
  onPage,
  what,
}: {
  page: number
  size: number
  total: number
  /** The number of rows on the page. */
  rows: number
  /** The number of rows of the page that are not shown, because they are about to be deleted. */
  hidden?: number
  onPage: (page: number) => void
  /** What the rows are, a plural that ends in s. */
  what: string
}) {
  const siblings = useMatches({ base: 0, sm: 1 })
  const pages = Math.max(1, Math.ceil(total / size))
  // While the next page is loading, `rows` and `total` belong to the previous page, which is not empty.
  const isBeyondEnd = total > 0 && rows === 0 && page > pages
  useEffect(() => {
    if (isBeyondEnd) onPage(pages)
  }, [isBeyondEnd, pages])
  if (total === hidden || page > pages) return null
  const first = (page - 1) * size + 1
  const last = Math.min(page * size, total) - hidden
  const shown = total - hidden
  return (
    <Group justify="space-between" mt="sm" gap="xs">
      <Text size="xs" c="dimmed" className="number" aria-live="polite">
        {pages > 1 && last >= first && `${formatNumber(first)}–${formatNumber(last)} of `}
        {formatNumber(shown)} {shown === 1 ? what.replace(/s$/, '') : what}
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

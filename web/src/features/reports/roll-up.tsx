import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { overview, useLocationCounts } from '../../api/overview.ts'
import type { LocationCount } from '../../api/types.ts'
import { IconDownload, IconSearch } from '../../components/icons.ts'
import { useSearchText } from '../../components/use-search-text.ts'
import { formatNumber } from '../../lib/time.ts'
import { useReportSearch } from './use-report-search.ts'

/** The number of locations at each level of the tree. */
function levelSizes(locations: ReadonlyMap<number, LocationCount>): number[] {
  const sizes: number[] = []
  for (const location of locations.values()) {
    let depth = 0
    for (let one = location; one.parent_id !== null && locations.has(one.parent_id); depth++)
      one = locations.get(one.parent_id)!
    sizes[depth] = (sizes[depth] ?? 0) + 1
  }
  return sizes
}

/** The width of a field: the controls of a report fit into one row at a width of 1280 pixels. */
export const fieldWidth = 190

/** The report is not rolled up. */
const none = 'none'

const nameOf = (level: number): string => (level === 0 ? 'Top level' : `Level ${level + 1}`)

/**
 * The level of the tree to which a report is rolled up, which the URL holds. Without one it is the zones, the first level
 * with more than one location; or none, where the report has single records, named by `records`. `level` is null until the
 * locations are loaded.
 */
export function useRollUp({ records }: { records?: string } = {}) {
  const { isPending } = useQuery(overview())
  const locations = useLocationCounts()
  const [{ level: chosen }, change] = useReportSearch()
  const sizes = useMemo(() => levelSizes(locations), [locations])
  const zones = Math.max(
    0,
    sizes.findIndex((size) => size > 1),
  )
  const value = chosen ?? (records === undefined ? String(zones) : none)
  const control = (
    <Select
      label="Group by"
      size="sm"
      w={fieldWidth}
      allowDeselect={false}
      value={value}
      onChange={(next) =>
        change({
          level: next === null || next === none ? undefined : next,
          sort: undefined,
          ...(next === none || value === none ? { q: undefined } : {}),
        })
      }
      data={[
        ...(records === undefined ? [] : [{ value: none, label: records }]),
        ...sizes.map((size, level) => ({
          value: String(level),
          label: `${nameOf(level)} (${formatNumber(size)} ${size === 1 ? 'location' : 'locations'})`,
        })),
        { value: 'all', label: 'Every location' },
      ]}
    />
  )
  const level = value === 'all' ? {} : { level: Number(value) }
  return { level: isPending ? null : level, isRolledUp: value !== none, control }
}

/** A text that filters the rows of a report, which the URL holds. */
export function useNameFilter() {
  const [{ q = '' }, change] = useReportSearch()
  const { typed, type } = useSearchText(q, (text) => change({ q: text }))
  const control = (
    <TextInput
      label="Location contains"
      size="sm"
      w={fieldWidth}
      leftSection={<IconSearch size={14} />}
      value={typed}
      onChange={({ currentTarget }) => type(currentTarget.value)}
    />
  )
  const wanted = q.toLowerCase()
  return {
    control,
    matches: (...names: (string | null)[]) => names.some((name) => name?.toLowerCase().includes(wanted)),
  }
}

/** The controls of a report in one row, or in several where the screen is narrow. */
export const ReportControls = ({ children }: { children: ReactNode }) => (
  <Group gap="sm" mb="sm" align="flex-end">
    {children}
  </Group>
)

/** Says why the table of a report has no rows: the report has none, stated by `none`, or the filter hides all. */
export const NoRows = ({ all, none }: { all: readonly unknown[]; none: string }) => (
  <Text size="sm" c="dimmed">
    {all.length === 0 ? none : 'No location contains this text.'}
  </Text>
)

/** The server returns at most this many rows of a report. */
const maxRows = 1000

/** The server has left out rows of the report. */
export const isPart = (all: readonly unknown[]): boolean => all.length >= maxRows

/** Says that a report shows a part: `shown` names the rows, `advice` what shows the others. */
export const partOf = (all: readonly unknown[], shown: string, advice: string): string =>
  isPart(all) ? ` The table and the CSV have the ${formatNumber(maxRows)} ${shown}; ${advice}.` : ''

export function SaveCsvButton({ onSave, disabled }: { onSave: () => void; disabled: boolean }) {
  return (
    <Button size="sm" variant="default" leftSection={<IconDownload size={16} />} disabled={disabled} onClick={onSave}>
      Export CSV
    </Button>
  )
}

/** The order of the rows of a report, which the URL holds. The table always has one. */
export function useReportSort(initial: string) {
  const [{ sort = initial }, change] = useReportSearch()
  return { sort, onSort: (next: string | undefined) => change({ sort: next ?? sort.replace(/^-/, '') }) }
}

/** Rows in the order of a column: `name` ascending, `-name` descending. */
export function sorted<Row>(
  rows: readonly Row[],
  sort: string,
  keyOf: Record<string, (row: Row) => string | number>,
): Row[] {
  const key = keyOf[sort.replace(/^-/, '')]
  if (key === undefined) return [...rows]
  const direction = sort.startsWith('-') ? -1 : 1
  const compare = (a: string | number, b: string | number): number =>
    typeof a === 'string' ? a.localeCompare(String(b), undefined, { numeric: true }) : a - Number(b)
  return rows.toSorted((a, b) => direction * compare(key(a), key(b)))
}

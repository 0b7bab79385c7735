import { Checkbox, Group, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
import {
  type ColumnDef,
  type RowData,
  type SortingState,
  flexRender,
  getCoreRowModel,
  useReactTable,
} from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { IconChevronDown, IconChevronUp, IconSelector } from './icons.ts'

declare module '@tanstack/react-table' {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  interface ColumnMeta<TData extends RowData, TValue> {
    /** The column is hidden on screens narrower than this breakpoint. */
    from?: 'xs' | 'sm' | 'md' | 'lg'
    align?: 'right'
    width?: number | string
  }
}

export interface DataTableProps<T> {
  label: string
  columns: ColumnDef<T>[]
  rows: readonly T[] | undefined
  rowKey: (row: T) => string
  sort?: string | undefined
  onSort?: (sort: string | undefined) => void
  empty?: ReactNode
  /** Ids of the columns that the user has hidden. */
  hidden?: readonly string[]
  selection?: RowSelection<T>
}

interface RowSelection<T> {
  isSelected: (row: T) => boolean
  /** Selects or deselects rows. */
  onChange: (rows: readonly T[], isSelected: boolean) => void
  /** The accessible name of the row's checkbox. */
  labelOf: (row: T) => string
}

const hideAll = (ids: readonly string[]): Record<string, boolean> => Object.fromEntries(ids.map((id) => [id, false]))

const toState = (sort: string | undefined): SortingState =>
  sort === undefined ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }]

const visibility = (from: string | undefined) => (from === undefined ? {} : { visibleFrom: from })

/** A table that the server sorts and paginates. */
export function DataTable<T>({
  label,
  columns,
  rows,
  rowKey,
  sort,
  onSort,
  empty,
  hidden = [],
  selection,
}: DataTableProps<T>) {
  const table = useReactTable({
    data: (rows as T[] | undefined) ?? [],
    columns,
    getCoreRowModel: getCoreRowModel(),
    getRowId: rowKey,
    manualSorting: true,
    state: { sorting: toState(sort), columnVisibility: hideAll(hidden) },
    defaultColumn: { enableSorting: false },
  })
  const next = (id: string): string | undefined => (sort === id ? `-${id}` : sort === `-${id}` ? undefined : id)
  const arrow = (id: string): ReactNode =>
    sort === id ? (
      <IconChevronUp size={14} />
    ) : sort === `-${id}` ? (
      <IconChevronDown size={14} />
    ) : (
      <IconSelector size={14} />
    )
  const ariaSort = (id: string) => (sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : 'none')
  const selectedCount = rows?.filter((row) => selection?.isSelected(row)).length ?? 0
  if (rows?.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <div className="table-wrap">
      <Table aria-label={label} highlightOnHover>
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {selection !== undefined && (
                <Table.Th w={36}>
                  <Checkbox
                    size="xs"
                    aria-label="Select all on this page"
                    checked={selectedCount > 0 && selectedCount === rows?.length}
                    indeterminate={selectedCount > 0 && selectedCount !== rows?.length}
                    disabled={rows === undefined || rows.length === 0}
                    onChange={({ currentTarget }) => selection.onChange(rows ?? [], currentTarget.checked)}
                  />
                </Table.Th>
              )}
              {group.headers.map(({ id, column, getContext }) => {
                const meta = column.columnDef.meta
                const title = flexRender(column.columnDef.header, getContext())
                // The server sorts: getCanSort() would demand an accessor, which only sorting in the browser needs.
                const isSortable = column.columnDef.enableSorting === true && onSort !== undefined
                return (
                  <Table.Th
                    key={id}
                    ta={meta?.align ?? 'left'}
                    w={meta?.width ?? 'auto'}
                    {...visibility(meta?.from)}
                    {...(isSortable ? { 'aria-sort': ariaSort(id) } : {})}
                  >
                    {isSortable ? (
                      <UnstyledButton className="sort-button" onClick={() => onSort(next(id))}>
                        <Group gap={4} wrap="nowrap">
                          <Text size="xs" c="dimmed" fw={600}>
                            {title}
                          </Text>
                          {arrow(id)}
                        </Group>
                      </UnstyledButton>
                    ) : (
                      <Text size="xs" c="dimmed" fw={600} span>
                        {title}
                      </Text>
                    )}
                  </Table.Th>
                )
              })}
            </Table.Tr>
          ))}
        </Table.Thead>
        <Table.Tbody>
          {rows === undefined
            ? Array.from({ length: 8 }, (_, index) => (
                <Table.Tr key={index}>
                  <Table.Td colSpan={columns.length + 1}>
                    <Skeleton height={18} radius="sm" />
                  </Table.Td>
                </Table.Tr>
              ))
            : table.getRowModel().rows.map((row) => (
                <Table.Tr
                  key={row.id}
                  {...(selection?.isSelected(row.original) === true ? { 'data-selected': true } : {})}
                >
                  {selection !== undefined && (
                    <Table.Td>
                      <Checkbox
                        size="xs"
                        aria-label={selection.labelOf(row.original)}
                        checked={selection.isSelected(row.original)}
                        onChange={({ currentTarget }) => selection.onChange([row.original], currentTarget.checked)}
                      />
                    </Table.Td>
                  )}
                  {row.getVisibleCells().map((cell) => (
                    <Table.Td
                      key={cell.id}
                      ta={cell.column.columnDef.meta?.align ?? 'left'}
                      {...visibility(cell.column.columnDef.meta?.from)}
                    >
                      {flexRender(cell.column.columnDef.cell, cell.getContext())}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

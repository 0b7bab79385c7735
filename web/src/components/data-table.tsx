import { Group, Skeleton, Table, Text, UnstyledButton } from '@mantine/core'
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
}

const toState = (sort: string | undefined): SortingState =>
  sort === undefined ? [] : [{ id: sort.replace(/^-/, ''), desc: sort.startsWith('-') }]

const visibility = (from: string | undefined) => (from === undefined ? {} : { visibleFrom: from })

/** A table that the server sorts and paginates. */
export function DataTable<T>({ label, columns, rows, rowKey, sort, onSort, empty }: DataTableProps<T>) {
  const table = useReactTable({
    data: (rows as T[] | undefined) ?? [],
    columns,
    getCoreRowModel: getCoreRowModel(),
    getRowId: rowKey,
    manualSorting: true,
    state: { sorting: toState(sort) },
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
  if (rows?.length === 0 && empty !== undefined) return <>{empty}</>
  return (
    <div className="table-wrap">
      <Table aria-label={label} highlightOnHover>
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {group.headers.map(({ id, column, getContext }) => {
                const meta = column.columnDef.meta
                const title = flexRender(column.columnDef.header, getContext())
                const isSortable = column.getCanSort() && onSort !== undefined
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
                  <Table.Td colSpan={columns.length}>
                    <Skeleton height={18} radius="sm" />
                  </Table.Td>
                </Table.Tr>
              ))
            : table.getRowModel().rows.map((row) => (
                <Table.Tr key={row.id}>
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

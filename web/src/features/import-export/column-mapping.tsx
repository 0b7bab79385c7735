import { Button, Select, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { type ColumnMapping, type Kind, importColumns, isKnownColumn, normalizeColumn } from './import-rows.ts'

const leftOut = 'Do not import'

/** A known name maps to its column; other columns of assets become metadata. */
function initialColumn(kind: Kind, header: string): string {
  const column = normalizeColumn(header)
  if (header !== '' && isKnownColumn(kind, column)) return importColumns[kind].includes(column) ? column : leftOut
  return kind === 'assets' && header !== '' ? `metadata.${header}` : leftOut
}

/** Lets the user choose the column for every cell of a header row. */
export function ColumnMappingForm({
  kind,
  headers,
  onSubmit,
}: {
  kind: Kind
  headers: readonly string[]
  onSubmit: (mapping: ColumnMapping) => void
}) {
  const named = [...new Set(headers.filter((header) => header !== ''))]
  const [chosen, setChosen] = useState(() => new Map(named.map((header) => [header, initialColumn(kind, header)])))
  const choicesFor = (header: string): string[] => [
    leftOut,
    ...importColumns[kind],
    ...(kind === 'assets' ? [`metadata.${header}`] : []),
  ]
  const hasKey = [...chosen.values()].includes('external_key')
  const submit = (): void =>
    onSubmit(new Map([...chosen].map(([header, column]) => [header, column === leftOut ? '' : column])))
  return (
    <Stack gap="sm">
      <Text size="sm">Choose how to import each column:</Text>
      <Table aria-label="Columns of the file" fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Column of the file</Table.Th>
            <Table.Th>Import as</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {named.map((header) => (
            <Table.Tr key={header}>
              <Table.Td>{header}</Table.Td>
              <Table.Td>
                <Select
                  aria-label={`Import ${header} as`}
                  data={choicesFor(header)}
                  value={chosen.get(header) ?? leftOut}
                  allowDeselect={false}
                  onChange={(column) => setChosen(new Map(chosen).set(header, column ?? leftOut))}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {!hasKey && (
        <Text size="sm" c="dimmed">
          One column must be external_key, which identifies the record.
        </Text>
      )}
      <Button onClick={submit} disabled={!hasKey} style={{ alignSelf: 'flex-start' }}>
        Use these columns
      </Button>
    </Stack>
  )
}

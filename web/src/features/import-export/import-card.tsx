import {
  Anchor,
  Button,
  FileButton,
  Group,
  Progress,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Table,
  Text,
} from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { ImportState } from '../../api/types.ts'
import { IconUpload } from '../../components/icons.ts'
import { Card, Fact } from '../../components/page.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { saveBlob } from '../../lib/download.ts'
import { formatNumber } from '../../lib/time.ts'
import { ColumnMappingForm } from './column-mapping.tsx'
import {
  type ColumnMapping,
  HeaderError,
  type ImportRow,
  type Kind,
  decodeFile,
  importColumns,
  readRows,
  template,
} from './import-rows.ts'
import { isInProgress, useImport } from './use-import.ts'

const lines = (number: number): string => (number === 1 ? '1 line' : `${formatNumber(number)} lines`)

const cellText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

function Preview({ rows }: { rows: readonly ImportRow[] }) {
  const columns = [...new Set(rows.slice(0, 6).flatMap((row) => Object.keys(row)))]
  return (
    <>
      <Text size="sm">{lines(rows.length)}. The first lines, as they will be imported:</Text>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Preview of the file">
        <Table fz="xs" withTableBorder className="as-records">
          <Table.Thead>
            <Table.Tr>
              {columns.map((one) => (
                <Table.Th key={one}>{one}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, 6).map((row) => (
              <Table.Tr key={row.line}>
                {columns.map((one) => (
                  <Table.Td key={one} data-label={one}>
                    {one === 'error' ? row.error?.message : cellText(row[one])}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  )
}

function Outcome({ state }: { state: ImportState }) {
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 4 }}>
        <Fact label="New">{formatNumber(state.creates)}</Fact>
        <Fact label="Changed">{formatNumber(state.updates)}</Fact>
        <Fact label="Unchanged">{formatNumber(state.unchanged)}</Fact>
        <Fact label="Errors">{formatNumber(state.errors_total)}</Fact>
      </SimpleGrid>
      {state.errors.length > 0 && (
        <div className="table-wrap">
          <Table fz="xs" aria-label="Errors">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Line</Table.Th>
                <Table.Th>Field</Table.Th>
                <Table.Th>Reason</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {state.errors.map((one, index) => (
                <Table.Tr key={index}>
                  <Table.Td className="number">{one.line}</Table.Td>
                  <Table.Td>{one.field ?? ''}</Table.Td>
                  <Table.Td>{one.message}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {state.errors_total > state.errors.length && (
            <Text size="xs" c="dimmed">
              The first {formatNumber(state.errors.length)} of {formatNumber(state.errors_total)} errors. Correct them
              and check the file again to see the others.
            </Text>
          )}
        </div>
      )}
    </>
  )
}

/** Imports assets or locations from a file in three steps: preview, check, import. */
export function ImportCard({ openedId }: { openedId: number | null }) {
  const [kind, setKind] = useState<Kind>('assets')
  const [rows, setRows] = useState<readonly ImportRow[] | null>(null)
  const [text, setText] = useState('')
  const [fileError, setFileError] = useState<unknown>(null)
  const [isReading, setReading] = useState(false)
  const navigate = useNavigate()
  // The lines are sent although the user leaves the page, which must not bring the user back.
  const isOpen = useRef(true)
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
    }
  }, [])
  const job = useImport(openedId, async (id) => {
    if (isOpen.current) await navigate({ to: '/import', search: id === null ? {} : { import: id }, replace: true })
  })
  useEffect(() => {
    if (openedId !== null) setRows(null)
  }, [openedId])
  const { state, isBusy } = job
  const validRows = state === undefined ? 0 : state.creates + state.updates + state.unchanged
  const read = async (content: string, mapping: ColumnMapping): Promise<void> => {
    setText(content)
    setFileError(null)
    setRows(await readRows({ kind, text: content, mapping }))
  }
  const reading = async (work: () => Promise<void>): Promise<void> => {
    setReading(true)
    try {
      await work()
    } catch (error) {
      setFileError(error)
    } finally {
      setReading(false)
    }
  }
  const choose = async (file: File | null): Promise<void> => {
    if (file !== null) await reading(async () => read(decodeFile(await file.arrayBuffer()), new Map()))
  }
  const restart = (): void => {
    setRows(null)
    void job.discard()
  }
  return (
    <Card title="Import">
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          A CSV file with a header row. Columns with other names can be mapped. A line with an existing key updates that
          record; all other lines create records. Columns: <span className="key">{importColumns[kind].join(', ')}</span>
          .{' '}
          <Anchor
            inherit
            underline="always"
            component="button"
            type="button"
            onClick={() => saveBlob(new Blob([template(kind)], { type: 'text/csv' }), `${kind}-template.csv`)}
          >
            Download an example
          </Anchor>
        </Text>
        {rows === null && state === undefined && !job.isLoading && (
          <Group gap="sm">
            <SegmentedControl
              aria-label="Record type"
              value={kind}
              onChange={(value) => {
                setKind(value)
                setFileError(null)
              }}
              data={[
                { value: 'assets', label: 'Assets' },
                { value: 'locations', label: 'Locations' },
              ]}
            />
            <FileButton accept=".csv,text/csv,text/plain" onChange={(file) => void choose(file)}>
              {(props) => (
                <Button leftSection={<IconUpload size={16} />} loading={isReading} {...props}>
                  Choose a CSV file
                </Button>
              )}
            </FileButton>
            {isReading && (
              <Text size="sm" role="status">
                Reading the file …
              </Text>
            )}
          </Group>
        )}
        {rows !== null && state === undefined && !job.isLoading && (
          <>
            <Preview rows={rows} />
            {isBusy && <Progress value={(job.sent / Math.max(1, rows.length)) * 100} aria-label="Lines sent" />}
            <Group gap="sm">
              <Button onClick={() => void job.check(kind, rows)} loading={isBusy} disabled={rows.length === 0}>
                Check {lines(rows.length)}
              </Button>
              <Button variant="default" onClick={restart} disabled={isBusy}>
                Choose another file
              </Button>
            </Group>
          </>
        )}
        {state !== undefined && (
          <>
            <Text size="sm" fw={600} role="status">
              {stateLabels[state.state]}
            </Text>
            {isInProgress(state) && (
              <Progress
                animated
                aria-label="Progress"
                value={state.state === 'running' ? (state.done_rows / Math.max(1, state.rows)) * 100 : 100}
              />
            )}
            {state.state !== 'checking' && state.state !== 'waiting' && <Outcome state={state} />}
            <Group gap="sm">
              {state.state === 'checked' && state.errors_total === 0 && (
                <Button loading={isBusy} onClick={() => void job.run(false)}>
                  Import {lines(state.rows)}
                </Button>
              )}
              {state.state === 'checked' && state.errors_total > 0 && validRows > 0 && (
                <Button variant="light" loading={isBusy} onClick={() => void job.run(true)}>
                  Import the {lines(validRows)} without errors
                </Button>
              )}
              {!isInProgress(state) && (
                <Button variant="default" disabled={isBusy} onClick={restart}>
                  {state.state === 'done' || state.state === 'failed' ? 'Import another file' : 'Cancel'}
                </Button>
              )}
            </Group>
          </>
        )}
        {fileError !== null && (
          <ErrorAlert
            error={fileError}
            title={fileError instanceof HeaderError ? 'The columns do not match' : 'The file cannot be imported'}
          />
        )}
        {fileError instanceof HeaderError && (
          <ColumnMappingForm
            key={fileError.headers.join('\n')}
            kind={kind}
            headers={fileError.headers}
            onSubmit={(mapping) => void reading(() => read(text, mapping))}
          />
        )}
        {job.error !== null && <ErrorAlert error={job.error} />}
      </Stack>
    </Card>
  )
}

const stateLabels: Record<ImportState['state'], string> = {
  open: 'Sending …',
  waiting: 'Waiting for another import of the organization …',
  checking: 'Checking every line …',
  checked: 'Checked. No data was changed yet.',
  running: 'Importing …',
  done: 'Done.',
  failed: 'The import failed. No data was changed.',
}

import {
  Alert,
  Button,
  Grid,
  Group,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { listAssets } from '../../api/assets.ts'
import { loadCode } from '../../api/connection.ts'
import { listLocations } from '../../api/locations.ts'
import type { Asset, List, Location } from '../../api/types.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconAlertTriangle, IconDownload, IconPrinter } from '../../components/icons.ts'
import { Card, Page } from '../../components/page.tsx'
import { notifyError } from '../../components/feedback.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { useSearchText } from '../../components/use-search-text.ts'
import { saveBlob } from '../../lib/download.ts'
import { formatNumber } from '../../lib/time.ts'
import { toSvg } from './export-labels.ts'
import { type LabelItem, layOutLabels, sheets } from './label-layout.ts'
import { type LabelWarning, findLabelWarnings } from './label-warnings.ts'

type Content = 'key' | 'barcode'

/** A label shows the key or the barcode tag that is attached to the record. */
const toLabelItem =
  (content: Content) =>
  (one: Asset | Location): LabelItem => {
    const barcode = one.tags.find((tag) => tag.tag_type === 'barcode')?.value
    const code = content === 'barcode' ? (barcode ?? one.external_key) : one.external_key
    return { code, name: one.name, isFallback: content === 'barcode' && barcode === undefined }
  }

function useLabelRecords(kind: 'assets' | 'locations', q: string, limit: number, keys: readonly string[] | undefined) {
  const selected = keys === undefined ? { limit } : { external_key: keys, limit: 200 }
  const assets = useQuery({ ...listAssets({ q, ...selected, offset: 0 }), enabled: kind === 'assets' })
  const locations = useQuery({ ...listLocations({ q, limit, offset: 0 }), enabled: kind === 'locations' })
  return (kind === 'assets' ? assets : locations) as UseQueryResult<List<Asset | Location>>
}

const defaultLabels = 48
const maxLabels = 200
const shownNames = 3

function Warnings({ warnings }: { warnings: readonly LabelWarning[] }) {
  return (
    <Stack gap="xs" role="status" aria-label="Warnings">
      {warnings.map(({ title, advice, names }) => (
        <Alert key={title} color="yellow" icon={<IconAlertTriangle size={18} />} title={title}>
          <Text size="sm">{advice}</Text>
          <Text size="xs" mt={4} style={{ overflowWrap: 'anywhere' }}>
            {names.slice(0, shownNames).join(', ')}
            {names.length > shownNames && ` and ${formatNumber(names.length - shownNames)} more`}
          </Text>
        </Alert>
      ))}
    </Stack>
  )
}

export function LabelsPage() {
  const search = useSearch({ from: '/shell/labels' })
  const { kind = 'assets', keys, code: symbology = 'qr', content = 'key' } = search
  const navigate = useNavigate({ from: '/labels' })
  const set = (change: Partial<Record<keyof typeof search, unknown>>): void =>
    void navigate({ search: (old) => ({ ...old, ...change }) as never, replace: true })
  const { typed, type } = useSearchText(search.q, (q) => set({ q }))
  const limit = Math.min(maxLabels, search.max ?? defaultLabels)
  const sheet = sheets.find((one) => one.value === search.sheet) ?? sheets[0]!
  const found = useLabelRecords(kind, search.q ?? '', limit, kind === 'assets' ? keys : undefined)
  const rows: readonly (Asset | Location)[] = found.data?.data ?? []
  const [pages, warnings] = useMemo(() => {
    const items = rows.map(toLabelItem(content))
    return [layOutLabels(items, sheet, symbology), findLabelWarnings(items, sheet, symbology)]
  }, [rows, content, sheet, symbology])
  const preview = useMemo(() => {
    const svg = pages[0] === undefined ? '' : toSvg(pages[0], sheet)
    return `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  }, [pages, sheet])
  const [isMakingPdf, setMakingPdf] = useState(false)
  const savePdf = async (): Promise<void> => {
    setMakingPdf(true)
    try {
      // The PDF library is larger than this page, so it is loaded on demand.
      const { toPdf } = await loadCode(() => import('./pdf.ts'))
      saveBlob(await toPdf(pages, sheet), `${kind}-labels.pdf`)
    } catch (error) {
      notifyError(error)
    } finally {
      setMakingPdf(false)
    }
  }
  return (
    <Page title="Labels" lead="Print QR or Code 128 labels for assets and locations.">
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Card>
            <Stack gap="sm">
              <SegmentedControl
                aria-label="Record type"
                value={kind}
                onChange={(value) => set({ kind: value, keys: undefined })}
                data={[
                  { value: 'assets', label: 'Assets' },
                  { value: 'locations', label: 'Locations' },
                ]}
              />
              {keys !== undefined && kind === 'assets' && (
                <Group justify="space-between" gap="xs">
                  <Text size="sm">Only the selected assets ({formatNumber(keys.length)}).</Text>
                  <Button variant="default" size="compact-sm" onClick={() => set({ keys: undefined })}>
                    Show all
                  </Button>
                </Group>
              )}
              <TextInput
                label="Filter"
                placeholder="Name, key or tag"
                value={typed}
                onChange={({ currentTarget }) => type(currentTarget.value)}
              />
              <NumberInput
                label="Maximum number of labels"
                min={1}
                max={maxLabels}
                allowDecimal={false}
                value={limit}
                onChange={(value) => set({ max: Math.min(maxLabels, Math.max(1, Number(value) || 1)) })}
              />
              <Select
                label="Sheet"
                allowDeselect={false}
                data={sheets.map((one) => ({ value: one.value, label: one.label }))}
                value={sheet.value}
                onChange={(value) => set({ sheet: value ?? undefined })}
              />
              <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
                <Input.Wrapper label="Code" labelElement="div">
                  <SegmentedControl
                    aria-label="Code"
                    fullWidth
                    value={symbology}
                    onChange={(value) => set({ code: value === 'qr' ? undefined : value })}
                    data={[
                      { value: 'qr', label: 'QR' },
                      { value: 'code128', label: 'Code 128' },
                    ]}
                  />
                </Input.Wrapper>
                <Input.Wrapper label="Content" labelElement="div">
                  <SegmentedControl
                    aria-label="Content"
                    fullWidth
                    value={content}
                    onChange={(value) => set({ content: value === 'key' ? undefined : value })}
                    data={[
                      { value: 'key', label: 'Key' },
                      { value: 'barcode', label: 'Barcode tag' },
                    ]}
                  />
                </Input.Wrapper>
              </SimpleGrid>
              <Text size="xs" c="dimmed">
                The scan page accepts keys and tag values.
              </Text>
              <Group>
                <Button
                  leftSection={<IconDownload size={16} />}
                  disabled={pages.length === 0}
                  loading={isMakingPdf}
                  onClick={() => void savePdf()}
                >
                  Download PDF
                </Button>
                <Button
                  variant="default"
                  disabled={pages.length === 0}
                  onClick={() =>
                    pages.forEach((marks, index) =>
                      saveBlob(
                        new Blob([toSvg(marks, sheet)], { type: 'image/svg+xml' }),
                        `${kind}-labels-${index + 1}.svg`,
                      ),
                    )
                  }
                >
                  Download SVG
                </Button>
              </Group>
              {found.data !== undefined && found.data.total_count > rows.length && (
                <Text size="sm">
                  Labels for the first {formatNumber(rows.length)} of {formatNumber(found.data.total_count)} {kind}.
                </Text>
              )}
              <Warnings warnings={warnings} />
            </Stack>
          </Card>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Card
            title="Preview"
            aside={
              pages.length > 0 && (
                <Text size="xs" c="dimmed">
                  {pages.length === 1 ? '1 page' : `First of ${formatNumber(pages.length)} pages`}
                </Text>
              )
            }
          >
            <QueryView query={found} rows={5}>
              {() =>
                rows.length === 0 ? (
                  <EmptyState icon={<IconPrinter size={22} />} title="Nothing to print">
                    {search.q === undefined ? `There are no ${kind} yet.` : `No ${kind} match.`}
                  </EmptyState>
                ) : (
                  <img
                    className="sheet"
                    src={preview}
                    alt={`First page with labels of ${formatNumber(rows.length)} ${rows.length === 1 ? kind.slice(0, -1) : kind}`}
                  />
                )
              }
            </QueryView>
          </Card>
        </Grid.Col>
      </Grid>
    </Page>
  )
}

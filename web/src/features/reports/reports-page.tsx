import { Group, Stack, Tabs, Text } from '@mantine/core'
import { Card, Page } from '../../components/page.tsx'
import { AssetPicker } from '../../components/pickers.tsx'
import type { ReportTab } from '../../routes/search-params.ts'
import { CsvButton } from './csv-button.tsx'
import { DwellReport } from './dwell.tsx'
import { FlowReport } from './flow.tsx'
import { usePeriod } from './period.tsx'
import { PointInTimeReport } from './point-in-time.tsx'
import { useReportSearch } from './use-report-search.ts'

function HistoryExport() {
  const { period, control } = usePeriod()
  const [{ asset: assetId = null }, change] = useReportSearch()
  return (
    <Card>
      {control}
      <Stack gap="sm" maw={420}>
        <AssetPicker
          label="Asset"
          placeholder="All assets"
          value={assetId}
          onChange={(id) => change({ asset: id ?? undefined })}
        />
        <Text size="sm" c="dimmed">
          One line per asset and minute with a sighting: time, location, and duration of the previous stay.
        </Text>
        <Group>
          <CsvButton path="/exports/history.csv" query={{ ...period, asset_id: assetId }} name="history.csv" />
        </Group>
      </Stack>
    </Card>
  )
}

export function ReportsPage() {
  const [{ tab = 'point-in-time' }, change] = useReportSearch()
  return (
    <Page title="Reports" lead="Asset locations, time per location, and moves between locations.">
      <Tabs
        value={tab}
        onChange={(next) => {
          // The text filters assets in this report and locations in the others.
          const text = [tab, next].includes('point-in-time') ? { q: undefined } : {}
          change(
            { tab: next === 'point-in-time' ? undefined : (next as ReportTab), sort: undefined, ...text },
            { replace: false },
          )
        }}
        keepMounted={false}
      >
        <Tabs.List mb="md" className="report-tabs">
          <Tabs.Tab value="point-in-time">Point in time</Tabs.Tab>
          <Tabs.Tab value="dwell">Time per location</Tabs.Tab>
          <Tabs.Tab value="flow">Flow</Tabs.Tab>
          <Tabs.Tab value="history">History</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="point-in-time">
          <PointInTimeReport />
        </Tabs.Panel>
        <Tabs.Panel value="dwell">
          <DwellReport />
        </Tabs.Panel>
        <Tabs.Panel value="flow">
          <FlowReport />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <HistoryExport />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

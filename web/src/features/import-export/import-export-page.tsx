import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { IconDownload } from '../../components/icons.ts'
import { Card, Page } from '../../components/page.tsx'
import { ErrorAlert } from '../../components/feedback.tsx'
import { useHasRole } from '../../components/use-session.ts'
import { download } from '../../lib/download.ts'
import { ImportCard } from './import-card.tsx'

const exportFiles = [
  {
    path: '/exports/assets.csv',
    label: 'Assets',
    text: 'All assets with tags and metadata. The file can be imported again.',
  },
  {
    path: '/exports/locations.csv',
    label: 'Locations',
    text: 'All locations with parents and tags. The file can be imported again.',
  },
  {
    path: '/exports/positions.csv',
    label: 'Current locations',
    text: 'One line per asset that was seen at least once.',
  },
  {
    path: '/exports/history.csv',
    label: 'History',
    text: 'One line per asset and minute with a sighting. The file can be large.',
  },
] as const

function ExportRow({ path, label, text }: (typeof exportFiles)[number]) {
  const action = useMutation({ mutationFn: () => download(path, path.split('/').at(-1)!) })
  return (
    <div className="move-row">
      <div style={{ flex: 1, minWidth: 0 }}>
        <Text size="sm" fw={550}>
          {label}
        </Text>
        <Text size="xs" c="dimmed">
          {text}
        </Text>
        {action.isError && <ErrorAlert error={action.error} />}
      </div>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} />}
        loading={action.isPending}
        aria-label={`CSV of ${label}`}
        onClick={() => action.mutate()}
      >
        CSV
      </Button>
    </div>
  )
}

export function ImportExportPage() {
  const { import: openedId = null } = useSearch({ from: '/shell/import' })
  const isManager = useHasRole('manager')
  return (
    <Page kind="form" title="Import & export" lead="Import and export assets and locations as CSV files.">
      <Stack>
        {isManager ? (
          <ImportCard openedId={openedId} />
        ) : (
          <Card title="Import">
            <Text size="sm" c="dimmed">
              Managers and admins can import assets and locations from CSV files.
            </Text>
          </Card>
        )}
        <Card title="Export">
          {exportFiles.map((one) => (
            <ExportRow key={one.path} {...one} />
          ))}
        </Card>
      </Stack>
    </Page>
  )
}

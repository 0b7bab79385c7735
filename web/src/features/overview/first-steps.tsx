import { Anchor, Button, Group, Paper, Stack, Text, ThemeIcon } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Overview } from '../../api/types.ts'
import { IconCheck } from '../../components/icons.ts'
import { useHasRole } from '../../components/use-session.ts'
import { NewAsset } from '../assets/new-asset.tsx'
import { NewLocation } from '../locations/new-location.tsx'

interface Step {
  title: string
  text: string
  isDone: boolean
  action: React.ReactNode
}

/** The three steps from an empty organization to the first sighting. */
export function FirstSteps({ data }: { data: Overview }) {
  const isManager = useHasRole('manager')
  const isOperator = useHasRole('operator')
  const [open, setOpen] = useState<'location' | 'asset' | null>(null)
  const steps: Step[] = [
    {
      title: 'Create locations',
      text: 'For example a site, a hall, a room or a shelf.',
      isDone: data.locations.length > 0,
      action: isManager && <Button onClick={() => setOpen('location')}>Create a location</Button>,
    },
    {
      title: 'Create assets and attach tags',
      text: 'Create them one by one or import a CSV file. Readers and cameras identify an asset by its RFID, BLE or barcode tag.',
      isDone: data.assets_total > 0,
      action: isManager && (
        <Group gap="sm">
          <Button onClick={() => setOpen('asset')}>Create an asset</Button>
          <Button variant="default" renderRoot={(props) => <Link to="/import" {...props} />}>
            Import a CSV file
          </Button>
        </Group>
      ),
    },
    {
      title: 'Record the first sighting',
      text: 'Scan a tag with your phone or connect a reader. This page then shows where your assets are.',
      isDone: data.seen_total > 0,
      action: isOperator && (
        <Group gap="sm">
          <Button renderRoot={(props) => <Link to="/scan" {...props} />}>Scan now</Button>
          {isManager && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/readers" search={{ create: 'yes' }} {...props} />}
            >
              Create a reader
            </Button>
          )}
        </Group>
      ),
    },
  ]
  const next = steps.findIndex((step) => !step.isDone)
  return (
    <Stack maw={680}>
      {steps.map((step, index) => (
        <Paper key={step.title} p="lg">
          <Group wrap="nowrap" align="flex-start">
            <ThemeIcon radius="xl" size={32} variant={step.isDone ? 'filled' : 'light'}>
              {step.isDone ? <IconCheck size={18} /> : index + 1}
            </ThemeIcon>
            <Stack gap={6} style={{ flex: 1 }}>
              <Text fw={620}>{step.title}</Text>
              <Text size="sm" c="dimmed">
                {step.text}
              </Text>
              {index === next && step.action}
            </Stack>
          </Group>
        </Paper>
      ))}
      <Text size="sm" c="dimmed">
        Programs can use the{' '}
        <Anchor inherit underline="always" href="/api/docs">
          API
        </Anchor>
        .
      </Text>
      {open === 'location' && <NewLocation parentId={null} onClose={() => setOpen(null)} />}
      {open === 'asset' && <NewAsset onClose={() => setOpen(null)} />}
    </Stack>
  )
}

import { ActionIcon, Button, NumberInput, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { ScanPoint } from '../../api/types.ts'
import { IconPlus, IconTrash } from '../../components/icons.ts'
import { LocationPicker } from '../../components/pickers.tsx'

/** The location of each antenna. */
export function ScanPoints({
  points,
  error,
  onChange,
}: {
  points: readonly ScanPoint[]
  error: ReactNode
  onChange: (next: ScanPoint[]) => void
}) {
  const set = (index: number, change: Partial<ScanPoint>): void =>
    onChange(points.map((one, at) => (at === index ? { ...one, ...change } : one)))
  const next = Math.max(0, ...points.map((one) => one.antenna)) + 1
  return (
    <Stack gap="xs">
      <div>
        <Text size="sm" fw={500}>
          Antennas
        </Text>
        <Text size="xs" c="dimmed">
          Choose the location each antenna covers. Without one, reads have no location.
        </Text>
      </div>
      {points.map((point, index) => (
        <div key={index} className="scan-point">
          <NumberInput
            aria-label="Antenna"
            min={1}
            max={65_535}
            allowDecimal={false}
            value={point.antenna}
            onChange={(value) => set(index, { antenna: Number(value) || 1 })}
          />
          <LocationPicker
            aria-label={`Location of antenna ${point.antenna}`}
            placeholder="No location"
            className="scan-point-location"
            value={point.location_id}
            onChange={(id) => set(index, { location_id: id })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove antenna ${point.antenna}`}
            onClick={() => onChange(points.filter((_, at) => at !== index))}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      {error !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      <Button
        variant="light"
        size="xs"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => onChange([...points, { antenna: next, location_id: null }])}
      >
        Add an antenna
      </Button>
    </Stack>
  )
}

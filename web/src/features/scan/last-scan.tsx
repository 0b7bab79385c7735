import { ActionIcon, Box, Paper, Text, Tooltip } from '@mantine/core'
import { useState } from 'react'
import { IconVolume, IconVolumeOff } from '../../components/icons.ts'
import { type ShownOutcome, isSoundOn, setSoundOn } from './scan-feedback.ts'

const colors: Record<ShownOutcome, string> = {
  found: 'harbor',
  elsewhere: 'blue',
  unknown: 'red',
  location: 'gray',
  waiting: 'yellow',
}

function describe(locationName: string | null, outcome: ShownOutcome): string {
  if (outcome === 'found') return 'Found here'
  if (outcome === 'unknown') return 'Unknown code'
  if (outcome === 'location') return 'Location'
  if (outcome === 'waiting') return 'Waiting for the server'
  return locationName === null ? 'Never seen' : `Elsewhere, last at ${locationName}`
}

export interface ShownScan {
  name: string
  /** Where an asset was last seen. */
  locationName: string | null
  outcome: ShownOutcome
}

/**
 * The latest scan in large letters and in the colour of its outcome. It has a constant height, so that the content below
 * does not shift.
 */
export function LastScan({ scan }: { scan: ShownScan | null }) {
  const [hasSound, setSound] = useState(isSoundOn)
  const color = scan === null ? 'gray' : colors[scan.outcome]
  const toggle = (): void => {
    setSoundOn(!hasSound)
    setSound(!hasSound)
  }
  const label = hasSound ? 'Turn the sound off' : 'Turn the sound on'
  return (
    <Paper
      className="last-scan"
      data-outcome={scan?.outcome ?? 'none'}
      style={{
        background: `var(--mantine-color-${color}-light)`,
        borderLeft: `6px solid var(--mantine-color-${color}-filled)`,
      }}
    >
      <Box role="status" aria-label="Last scan" style={{ flex: 1, minWidth: 0 }}>
        {scan === null ? (
          <Text size="lg">Ready to scan</Text>
        ) : (
          <>
            <Text fz={24} fw={700} lh={1.2} lineClamp={1}>
              {scan.name}
            </Text>
            <Text size="sm" lineClamp={1}>
              {describe(scan.locationName, scan.outcome)}
            </Text>
          </>
        )}
      </Box>
      <Tooltip label={label}>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={label} onClick={toggle}>
          {hasSound ? <IconVolume size={20} /> : <IconVolumeOff size={20} />}
        </ActionIcon>
      </Tooltip>
    </Paper>
  )
}

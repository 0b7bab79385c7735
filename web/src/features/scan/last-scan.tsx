import { ActionIcon, Box, Paper, Text, Tooltip } from '@mantine/core'
import { useState } from 'react'
import type { ResolvedCode } from '../../api/types.ts'
import { IconVolume, IconVolumeOff } from '../../components/icons.ts'
import { type ScanOutcome, isSoundOn, setSoundOn } from './scan-feedback.ts'

const colors: Record<ScanOutcome, string> = { found: 'harbor', elsewhere: 'blue', unknown: 'red' }

function describe(one: ResolvedCode, outcome: ScanOutcome): string {
  if (outcome === 'found') return 'Found here'
  if (outcome === 'unknown') return 'Unknown code'
  return one.location_name === null ? 'Never seen before' : `Elsewhere, last at ${one.location_name}`
}

/** The latest scan in large letters and in the colour of its outcome. It keeps its height, so that nothing moves. */
export function LastScan({ scan, outcome }: { scan: ResolvedCode | null; outcome: ScanOutcome | null }) {
  const [hasSound, setSound] = useState(isSoundOn)
  const color = outcome === null ? 'gray' : colors[outcome]
  const toggle = (): void => {
    setSoundOn(!hasSound)
    setSound(!hasSound)
  }
  const label = hasSound ? 'Turn the sound off' : 'Turn the sound on'
  return (
    <Paper
      className="last-scan"
      data-outcome={outcome ?? 'none'}
      style={{
        background: `var(--mantine-color-${color}-light)`,
        borderLeft: `6px solid var(--mantine-color-${color}-filled)`,
      }}
    >
      <Box role="status" aria-label="Last scan" style={{ flex: 1, minWidth: 0 }}>
        {scan === null || outcome === null ? (
          <Text size="lg">Ready to scan</Text>
        ) : (
          <>
            <Text fz={24} fw={700} lh={1.2} lineClamp={1}>
              {scan.name ?? scan.code}
            </Text>
            <Text size="sm" lineClamp={1}>
              {describe(scan, outcome)}
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

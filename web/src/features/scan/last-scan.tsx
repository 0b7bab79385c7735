import { ActionIcon, Box, Paper, Text, Tooltip } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { ResolvedCode } from '../../api/types.ts'
import { IconVolume, IconVolumeOff } from '../../components/icons.ts'
import { type ScanOutcome, type ShownOutcome, isSoundOn, setSoundOn, signalOutcome } from './scan-feedback.ts'
import type { Scan } from './use-scan.ts'

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

interface ShownScan {
  name: string
  /** Where an asset was last seen. */
  locationName: string | null
  outcome: ShownOutcome
}

/** The latest scan. When the server has resolved it, signals its outcome and opens the tab that received the code. */
export function useLastScan(
  { lastScan, codes, resultOf, result }: Scan,
  openTab: (tab: string) => void,
): ShownScan | null {
  const scan = lastScan === null ? undefined : resultOf(lastScan.code)
  const isListed = lastScan !== null && codes.includes(lastScan.code)
  const isIn = (all: readonly ResolvedCode[]): boolean =>
    all.some((one) => one.id === scan?.id && one.kind === scan?.kind)
  const outcome: ScanOutcome | null =
    scan === undefined || scan.kind === 'location' || !isListed
      ? null
      : scan.kind === null
        ? 'unknown'
        : isIn(result.found)
          ? 'found'
          : 'elsewhere'
  const signalledCount = useRef(0)
  useEffect(() => {
    if (outcome === null || lastScan === null || signalledCount.current === lastScan.count) return
    signalledCount.current = lastScan.count
    signalOutcome(outcome)
    openTab(outcome)
  })
  if (lastScan === null) return null
  // The code of a location leaves the list as soon as the location is chosen.
  if (scan?.kind === 'location') return { name: scan.name ?? scan.code, locationName: null, outcome: 'location' }
  if (!isListed) return null
  if (scan === undefined || outcome === null) return { name: lastScan.code, locationName: null, outcome: 'waiting' }
  return { name: scan.name ?? scan.code, locationName: scan.location_name, outcome }
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

import { Anchor, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { saveSightings } from '../../api/assets.ts'
import { oneLocation } from '../../api/locations.ts'
import type { Location, ResolvedCode } from '../../api/types.ts'
import { AttachCode } from '../../components/attach-code.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { IconBarcode, IconLock, IconMapPin } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { ErrorAlert, notify, notifyWithUndo } from '../../components/feedback.tsx'
import { useHasRole, useUser } from '../../components/use-session.ts'
import { Camera } from './camera.tsx'
import { LastScan } from './last-scan.tsx'
import { type ScanOutcome, signalOutcome } from './scan-feedback.ts'
import { splitCodes } from './stocktake.ts'
import { Results, SaveSummary, WaitingCodes } from './results.tsx'
import { SwitchQuestion } from './switch-question.tsx'
import { useScan } from './use-scan.ts'
import { useKeyboardWedge } from './use-keyboard-wedge.ts'
import { overview, refreshOverview } from '../../api/overview.ts'

export function ScanPage() {
  const isOperator = useHasRole('operator')
  if (isOperator) return <Scan />
  return (
    <Page kind="form" title="Scan">
      <EmptyState icon={<IconLock size={22} />} title="Your role cannot save locations">
        Operators, managers and admins can save the location of assets. An admin can change your role under Members.
      </EmptyState>
    </Page>
  )
}

/** A code input for typing, hand scanners and pasted lists. */
function CodeField({ onCodes }: { onCodes: (codes: string[]) => void }) {
  const [text, setText] = useState('')
  const enter = (): void => {
    onCodes(splitCodes(text))
    setText('')
  }
  return (
    <TextInput
      aria-label="Code"
      placeholder="Scan or type codes"
      leftSection={<IconBarcode size={18} />}
      size="md"
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        enter()
      }}
      onPaste={(event) => {
        const pasted = splitCodes(event.clipboardData.getData('text'))
        if (pasted.length < 2) return
        event.preventDefault()
        onCodes(pasted)
      }}
      rightSectionWidth={64}
      rightSection={
        <Button size="compact-sm" variant="light" onClick={enter} disabled={text.trim() === ''}>
          Add
        </Button>
      }
    />
  )
}

/** A hint for organizations without locations. */
function NoLocations() {
  const isManager = useHasRole('manager')
  const { data } = useQuery(overview())
  if (data === undefined || data.locations.length > 0) return null
  return (
    <Text size="sm" role="note">
      There are no locations yet.{' '}
      {isManager ? (
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/locations" {...props} />}>
          Create the first location
        </Anchor>
      ) : (
        'A manager can create the first location.'
      )}
    </Text>
  )
}

/** The outcome of the latest scan. When the server has resolved it, signals it and opens the tab that received the code. */
function useLastScan({ lastScan, known, result }: ReturnType<typeof useScan>, openTab: (tab: string) => void) {
  const scan = known.find((one) => one.code === lastScan?.code && one.kind !== 'location') ?? null
  const isIn = (all: readonly ResolvedCode[]): boolean =>
    all.some((one) => one.id === scan?.id && one.kind === scan?.kind)
  const outcome: ScanOutcome | null =
    scan === null ? null : scan.kind === null ? 'unknown' : isIn(result.found) ? 'found' : 'elsewhere'
  const signalledCount = useRef(0)
  useEffect(() => {
    if (outcome === null || lastScan === null || signalledCount.current === lastScan.count) return
    signalledCount.current = lastScan.count
    signalOutcome(outcome)
    openTab(outcome)
  })
  return { scan, outcome }
}

function Scan() {
  const { org } = useUser()
  const isManager = useHasRole('manager')
  const { location: locationId = null } = useSearch({ from: '/shell/scan' })
  const navigate = useNavigate({ from: '/scan' })
  const location = useQuery({ ...oneLocation(locationId ?? 0), enabled: locationId !== null })
  const scan = useScan(org.id, locationId)
  const queries = useQueryClient()
  const [tab, setTab] = useState('found')
  const last = useLastScan(scan, setTab)
  const [unknownCode, setUnknownCode] = useState<string | null>(null)
  const [picked, setPicked] = useState<{ id: number; name: string | null } | null>(null)
  const setLocation = (id: number | null): void =>
    void navigate({ search: id === null ? {} : { location: id }, replace: true })
  const scannedLocation = scan.known.find((one) => one.kind === 'location')
  useEffect(() => {
    if (scannedLocation === undefined || (locationId !== null && scannedLocation.id !== locationId)) return
    scan.drop([scannedLocation.code])
    if (locationId === null) setLocation(scannedLocation.id)
  })
  useKeyboardWedge((code) => scan.add(splitCodes(code)))
  const save = useMutation({
    mutationFn: async ({ at, assets }: { at: Location; assets: readonly ResolvedCode[] }) => {
      const isSent = (one: ResolvedCode): boolean => assets.includes(one)
      const sent = { found: scan.result.found.filter(isSent), elsewhere: scan.result.elsewhere.filter(isSent) }
      await saveSightings(
        at.external_key,
        assets.flatMap((one) => one.external_key ?? []),
      )
      scan.markSaved(at.id, sent)
    },
    onSuccess: async (_done, { at, assets }) => {
      notify(`${assets.length} saved at ${at.name}.`)
      refreshOverview(queries)
      await scan.refresh()
    },
  })
  const next = scannedLocation ?? picked
  // Codes scanned after the code of the next location belong to that location.
  const later = scannedLocation === undefined ? [] : scan.codes.slice(0, scan.codes.indexOf(scannedLocation.code))
  const unsavedHere = scan.unsaved.filter((one) => !later.includes(one.code))
  const isAsking = location.data !== undefined && next?.id != null && next.id !== locationId
  const stay = (): void => {
    if (scannedLocation !== undefined) scan.drop([scannedLocation.code])
    setPicked(null)
  }
  const switchTo = (id: number | null): void => {
    stay()
    setLocation(id)
  }
  return (
    <Page kind="form" title="Scan" lead="Choose a location, scan the assets there, and save.">
      <Stack>
        <Paper p="md">
          <Stack gap="sm">
            <LocationPicker
              label="Location"
              placeholder="Choose a location or scan its code"
              size="md"
              leftSection={<IconMapPin size={18} />}
              value={locationId}
              onChange={(id, name) => {
                if (id === null || locationId === null || scan.unsaved.length === 0) setLocation(id)
                else setPicked({ id, name })
              }}
            />
            <NoLocations />
            {isAsking && (
              <SwitchQuestion
                title={`${next.name ?? 'Another location'} was ${scannedLocation === undefined ? 'chosen' : 'scanned'}`}
                from={location.data.name}
                to={next.name ?? 'the other location'}
                unsavedCount={unsavedHere.length}
                isSaving={save.isPending}
                onSave={() =>
                  save.mutate({ at: location.data, assets: unsavedHere }, { onSuccess: () => switchTo(next.id) })
                }
                onDrop={() => {
                  scan.drop(unsavedHere.map((one) => one.code))
                  switchTo(next.id)
                }}
                onKeep={() => switchTo(next.id)}
                onStay={stay}
              />
            )}
            <CodeField onCodes={scan.add} />
          </Stack>
        </Paper>
        <Camera onCode={(code) => scan.add([code])}>
          <LastScan {...last} />
        </Camera>
        {scan.error !== null && <ErrorAlert error={scan.error} onRetry={() => void scan.refresh()} />}
        <WaitingCodes codes={scan.waiting} />
        {scan.saved !== null && location.data !== undefined && (
          <SaveSummary saved={scan.saved} locationName={location.data.name} missingCount={scan.result.missing.length} />
        )}
        <Paper p="md">
          <Results
            result={scan.result}
            tab={tab}
            onTab={setTab}
            mayAttach={isManager}
            onRemove={(code) => scan.drop([code])}
            onAttach={setUnknownCode}
          />
        </Paper>
        {save.isError && <ErrorAlert error={save.error} />}
        <Group className="save-bar" grow preventGrowOverflow={false} wrap="nowrap">
          <Button
            size="md"
            disabled={location.data === undefined || scan.unsaved.length === 0 || isAsking}
            loading={save.isPending}
            onClick={() => location.data !== undefined && save.mutate({ at: location.data, assets: scan.unsaved })}
          >
            {location.data === undefined || scan.unsaved.length === 0
              ? 'Save'
              : `Save ${scan.unsaved.length} at ${location.data.name}`}
          </Button>
          <Button
            size="md"
            variant="default"
            disabled={scan.codes.length === 0}
            onClick={() => notifyWithUndo('The list was cleared.', scan.clear())}
            style={{ flex: '0 0 auto' }}
          >
            Clear
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          Saving records that these assets are at this location now. Missing assets keep their last location until they
          are seen again.
        </Text>
      </Stack>
      {unknownCode !== null && (
        <AttachCode
          title="Attach this code"
          code={unknownCode}
          type="barcode"
          onClose={() => setUnknownCode(null)}
          onDone={() => {
            setUnknownCode(null)
            void scan.refresh()
          }}
        />
      )}
    </Page>
  )
}

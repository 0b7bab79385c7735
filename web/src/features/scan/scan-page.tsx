import { Anchor, Button, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useWindowEvent } from '@mantine/hooks'
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
import { ErrorAlert, notify, notifyError, notifyWithUndo } from '../../components/feedback.tsx'
import { useHasRole, useUser } from '../../components/use-session.ts'
import { Camera } from './camera.tsx'
import { LastScan, useLastScan } from './last-scan.tsx'
import { splitCodes } from './stocktake.ts'
import { Results, SaveSummary, WaitingCodes } from './results.tsx'
import { SwitchQuestion } from './switch-question.tsx'
import { useCodesHere, useScan } from './use-scan.ts'
import { counted, formatNumber } from '../../lib/time.ts'
import { useKeyboardWedge } from './use-keyboard-wedge.ts'
import { overview, refreshOverview } from '../../api/overview.ts'

export function ScanPage() {
  const isOperator = useHasRole('operator')
  const { org } = useUser()
  if (isOperator) return <Scan key={org.id} orgId={org.id} />
  return (
    <Page kind="form" title="Scan">
      <EmptyState icon={<IconLock size={22} />} title="Your role does not allow scanning">
        Operators, managers and admins can save the location of assets. An admin can change your role under Members.
      </EmptyState>
    </Page>
  )
}

/** A code input for typing, hand scanners and pasted lists. */
function CodeField({
  onCodes,
  field,
}: {
  onCodes: (codes: string[]) => void
  field: React.RefObject<HTMLInputElement | null>
}) {
  const [text, setText] = useState('')
  const enter = (): void => {
    onCodes(splitCodes(text))
    setText('')
  }
  return (
    <TextInput
      ref={field}
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

/** On a phone, the focus would open the keyboard. */
const hasTouch = (): boolean => matchMedia('(pointer: coarse)').matches

function Scan({ orgId }: { orgId: number }) {
  const isManager = useHasRole('manager')
  const { location: requestedId = null } = useSearch({ from: '/shell/scan' })
  const navigate = useNavigate({ from: '/scan' })
  const scan = useScan(orgId, requestedId)
  const { locationId } = scan
  // The list is kept until the tab is closed.
  useWindowEvent('beforeunload', (event) => {
    if (scan.unsaved.length > 0 || scan.waiting.length > 0) event.preventDefault()
  })
  const location = useQuery({ ...oneLocation(locationId ?? 0), enabled: locationId !== null })
  const requested = useQuery({ ...oneLocation(requestedId ?? 0), enabled: requestedId !== null })
  const queries = useQueryClient()
  const [tab, setTab] = useState('found')
  const last = useLastScan(scan, setTab)
  const [unknownCode, setUnknownCode] = useState<string | null>(null)
  const codeField = useRef<HTMLInputElement>(null)
  const setLocation = (id: number | null): void =>
    void navigate({ search: id === null ? {} : { location: id }, replace: true })
  // The link to the page without a location leads back to the codes that are not saved.
  useEffect(() => {
    if (requestedId === null && locationId !== null) setLocation(locationId)
  })
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
      notify(`${counted(assets.length, 'asset')} saved at ${at.name}.`)
      refreshOverview(queries)
      await scan.refresh()
    },
    // The list may be longer than the screen, and the message below it out of view.
    onError: notifyError,
  })
  const nextId = scannedLocation?.id ?? (scan.isUndecided ? requestedId : null)
  const nextName = scannedLocation?.name ?? requested.data?.name ?? 'the other location'
  const here = useCodesHere(scan, scannedLocation)
  const isAsking = locationId !== null && nextId !== null && nextId !== locationId
  const switchTo = (id: number, dropped: readonly string[]): void => {
    scan.moveTo(id, scannedLocation === undefined ? dropped : [...dropped, scannedLocation.code])
    setLocation(id)
  }
  const codesHere = [...here.assets.map((one) => one.code), ...here.waiting, ...here.unknown]
  return (
    <Page kind="form" title="Scan" lead="Choose a location, scan the assets there, and save.">
      <Stack>
        <Paper p="md">
          <Stack gap="sm">
            <LocationPicker
              // A remounted picker shows the current location again after the user chose another one and cancelled.
              key={`${locationId} ${scan.isUndecided}`}
              label="Location"
              placeholder="Choose or scan a location"
              size="md"
              leftSection={<IconMapPin size={18} />}
              value={locationId}
              clearable={false}
              onChange={(id) => {
                if (id === null) return
                setLocation(id)
                // A hand scanner types where the focus is: it must not type into this search.
                if (hasTouch()) (document.activeElement as HTMLElement | null)?.blur()
                else codeField.current?.focus()
              }}
            />
            <NoLocations />
            {isAsking && (
              <SwitchQuestion
                title={`${nextName} was ${scannedLocation === undefined ? 'chosen' : 'scanned'}`}
                from={location.data?.name ?? 'this location'}
                to={nextName}
                open={{ assets: here.assets.length, waiting: here.waiting.length, unknown: here.unknown.length }}
                isSaving={save.isPending}
                onSave={() =>
                  location.data !== undefined &&
                  save.mutate(
                    { at: location.data, assets: here.assets },
                    { onSuccess: () => switchTo(nextId, here.unknown) },
                  )
                }
                onDrop={() => switchTo(nextId, codesHere)}
                onKeep={() => switchTo(nextId, [])}
                onStay={() => {
                  if (scannedLocation !== undefined) scan.drop([scannedLocation.code])
                  setLocation(locationId)
                }}
              />
            )}
            <CodeField onCodes={scan.add} field={codeField} />
          </Stack>
        </Paper>
        <Camera onCode={(code) => scan.add([code])}>
          <LastScan scan={last} />
        </Camera>
        {scan.saved !== null && location.data !== undefined && (
          <SaveSummary saved={scan.saved} locationName={location.data.name} missingCount={scan.result.missing.length} />
        )}
        <Paper p="md">
          <Results
            result={scan.result}
            expectedTotal={scan.expectedTotal}
            tab={tab}
            onTab={setTab}
            mayAttach={isManager}
            onRemove={(code) => scan.drop([code])}
            onAttach={setUnknownCode}
          />
        </Paper>
        <Group className="save-bar" grow preventGrowOverflow={false} wrap="nowrap">
          <Button
            size="md"
            disabled={location.data === undefined || scan.unsaved.length === 0 || isAsking}
            loading={save.isPending}
            onClick={() => location.data !== undefined && save.mutate({ at: location.data, assets: scan.unsaved })}
          >
            {location.data === undefined || scan.unsaved.length === 0
              ? 'Save'
              : `Save ${formatNumber(scan.unsaved.length)} at ${location.data.name}`}
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
        <WaitingCodes codes={scan.waiting} onRemove={(code) => scan.drop([code])} />
        {scan.error !== null && <ErrorAlert error={scan.error} onRetry={() => void scan.refresh()} />}
        {save.isError && <ErrorAlert error={save.error} />}
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

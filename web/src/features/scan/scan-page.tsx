import { Alert, Anchor, Button, Group, Modal, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { post } from '../../api/client.ts'
import { oneLocation } from '../../api/locations.ts'
import { AttachCode } from '../../components/attach-code.tsx'
import { Empty } from '../../components/empty.tsx'
import { IconBarcode, IconLock, IconMapPin } from '../../components/icons.ts'
import { Page } from '../../components/page.tsx'
import { LocationPicker } from '../../components/pickers.tsx'
import { Problem, tell } from '../../components/problem.tsx'
import { useCan, useUser } from '../../components/use-session.ts'
import { Camera } from './camera.tsx'
import { splitCodes } from './codes.ts'
import { Results } from './results.tsx'
import { useScan } from './use-scan.ts'
import { useWedge } from './use-wedge.ts'
import { overview, refreshOverview } from '../../api/looking.ts'

export function ScanPage() {
  const isOperator = useCan('operator')
  if (isOperator) return <Scan />
  return (
    <Page title="Scan">
      <Empty icon={<IconLock size={22} />} title="Your role looks, but does not save">
        Operators, managers and admins can save where things are. An admin can change your role under Members.
      </Empty>
    </Page>
  )
}

interface Saved {
  count: number
  location_name: string
}

/** A field that a hand scanner can type into, and that takes whole lists. */
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

/** Without a place there is nothing to choose. */
function NoPlaces() {
  const isManager = useCan('manager')
  const { data } = useQuery(overview())
  if (data === undefined || data.locations.length > 0) return null
  return (
    <Text size="sm" role="note">
      There are no places yet.{' '}
      {isManager ? (
        <Anchor inherit underline="always" renderRoot={(props) => <Link to="/locations" {...props} />}>
          Name the first one
        </Anchor>
      ) : (
        'A manager can name the first one.'
      )}
    </Text>
  )
}

function Scan() {
  const { org } = useUser()
  const isManager = useCan('manager')
  const { place: placeId = null } = useSearch({ from: '/shell/scan' })
  const navigate = useNavigate({ from: '/scan' })
  const place = useQuery({ ...oneLocation(placeId ?? 0), enabled: placeId !== null })
  const scan = useScan(org.id, placeId)
  const queries = useQueryClient()
  const [strange, setStrange] = useState<string | null>(null)
  const setPlace = (id: number | null): void =>
    void navigate({ search: id === null ? {} : { place: id }, replace: true })
  const doorCode = scan.known.find((one) => one.kind === 'location')
  useEffect(() => {
    if (doorCode === undefined || (placeId !== null && doorCode.id !== placeId)) return
    scan.drop(doorCode.code)
    if (placeId === null) setPlace(doorCode.id)
  })
  useWedge((code) => scan.add(splitCodes(code)))
  const things = [...scan.verdict.found, ...scan.verdict.elsewhere]
  const save = useMutation({
    mutationFn: () =>
      post<Saved>('/inventory/save', {
        location_identifier: place.data?.external_key,
        asset_identifiers: things.map((one) => one.external_key),
      }),
    onSuccess: async ({ count, location_name: name }) => {
      tell(`${count === 1 ? 'One asset is' : `${count} assets are`} at ${name} now.`, 'Saved')
      for (const one of things) scan.drop(one.code)
      refreshOverview(queries)
      await scan.refresh()
    },
  })
  return (
    <Page title="Scan" lead="Choose a place, scan what is there, save.">
      <Stack maw={640}>
        <Paper p="md">
          <Stack gap="sm">
            <LocationPicker
              label="Place"
              placeholder="Choose it, or scan its code"
              size="md"
              leftSection={<IconMapPin size={18} />}
              value={placeId}
              onChange={setPlace}
            />
            <NoPlaces />
            {doorCode !== undefined && placeId !== null && doorCode.id !== placeId && (
              <Alert color="blue" title={`${doorCode.name ?? 'Another place'} was scanned`}>
                <Group gap="xs">
                  <Button
                    size="xs"
                    onClick={() => {
                      scan.drop(doorCode.code)
                      setPlace(doorCode.id)
                    }}
                  >
                    Go on there
                  </Button>
                  <Button size="xs" variant="default" onClick={() => scan.drop(doorCode.code)}>
                    Stay here
                  </Button>
                </Group>
              </Alert>
            )}
            <CodeField onCodes={scan.add} />
            <Camera onCode={(code) => scan.add([code])} />
          </Stack>
        </Paper>
        {scan.error !== null && <Problem error={scan.error} onRetry={() => void scan.refresh()} />}
        <Paper p="md">
          <Results verdict={scan.verdict} mayAttach={isManager} onDrop={scan.drop} onAttach={setStrange} />
        </Paper>
        {save.isError && <Problem error={save.error} />}
        <Group className="save-bar" grow preventGrowOverflow={false} wrap="nowrap">
          <Button
            size="md"
            disabled={placeId === null || things.length === 0}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {place.data === undefined || things.length === 0 ? 'Save' : `Save ${things.length} at ${place.data.name}`}
          </Button>
          <Button
            size="md"
            variant="default"
            disabled={scan.codes.length === 0}
            onClick={scan.clear}
            style={{ flex: '0 0 auto' }}
          >
            Clear
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          Saving says that these things are here now. Missing ones keep their last place until they are seen again.
        </Text>
      </Stack>
      <Modal opened={strange !== null} onClose={() => setStrange(null)} title="Attach this code">
        {strange !== null && (
          <AttachCode
            code={strange}
            type="barcode"
            onDone={() => {
              setStrange(null)
              void scan.refresh()
            }}
          />
        )}
      </Modal>
    </Page>
  )
}

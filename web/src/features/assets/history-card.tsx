import { ActionIcon, Anchor, Box, Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { listHistory, listStays } from '../../api/assets.ts'
import type { Stay } from '../../api/types.ts'
import { IconChevronDown, IconChevronLeft, IconChevronRight, IconZoomIn, IconZoomOut } from '../../components/icons.ts'
import { Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { LocationLink } from '../../components/record-links.tsx'
import { duration, exactDateTime, formatNumber, timeRange, timeWithSeconds } from '../../lib/time.ts'
import { Timeline } from './timeline.tsx'

const dayMs = 86_400_000
const minuteMs = 60_000
const spans = [
  { value: String(dayMs), label: 'Day' },
  { value: String(7 * dayMs), label: 'Week' },
  { value: String(30 * dayMs), label: 'Month' },
]
const [shortestMs, longestMs] = [15 * minuteMs, 90 * dayMs]
const size = 20

/** The period of the history: its length, and its end, which is an instant or now. */
interface Zoom {
  spanMs: number
  until: number | null
}

/** Moves the period, or zooms around its middle. It never ends after now. */
function changed({ spanMs, until }: Zoom, now: number, { shift = 0, factor = 1 }): Zoom {
  const nextSpan = Math.min(longestMs, Math.max(shortestMs, spanMs * factor))
  const middle = (until ?? now) - spanMs / 2 + shift * spanMs
  // Zooming out of the present, or into it, keeps the present in view.
  const end = until === null && shift === 0 ? now : middle + nextSpan / 2
  return { spanMs: nextSpan, until: end >= now ? null : end }
}

/** The controls of the period: in one row, or on a phone in two, of which the second has the period itself. */
function ZoomControls({
  zoom,
  now,
  period,
  onChange,
}: {
  zoom: Zoom
  now: number
  period: string
  onChange: (zoom: Zoom) => void
}) {
  const button = (label: string, icon: React.ReactNode, change: Parameters<typeof changed>[2], disabled: boolean) => (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={() => onChange(changed(zoom, now, change))}
    >
      {icon}
    </ActionIcon>
  )
  return (
    <Group gap={6} mb="sm">
      <Group gap={6} wrap="nowrap">
        <SegmentedControl
          size="xs"
          value={String(zoom.spanMs)}
          onChange={(value) => onChange({ ...zoom, spanMs: Number(value) })}
          data={spans}
          aria-label="Time range"
        />
        {button('Zoom out', <IconZoomOut size={16} />, { factor: 2 }, zoom.spanMs >= longestMs)}
        {button('Zoom in', <IconZoomIn size={16} />, { factor: 0.5 }, zoom.spanMs <= shortestMs)}
      </Group>
      <Group gap={6} wrap="nowrap" style={{ flex: '1 1 240px' }}>
        {button('Earlier', <IconChevronLeft size={16} />, { shift: -1 }, false)}
        {button('Later', <IconChevronRight size={16} />, { shift: 1 }, zoom.until === null)}
        <Text size="xs" c="dimmed" className="number" style={{ minWidth: 0, textWrap: 'balance' }}>
          {period}
        </Text>
      </Group>
    </Group>
  )
}

/** The single minutes of a stay, newest first. */
function Minutes({ assetId, stay }: { assetId: number; stay: Stay }) {
  const [page, setPage] = useState(1)
  const rows = useQuery(
    listHistory(assetId, {
      from: stay.began_at,
      to: stay.last_seen_at,
      limit: size,
      offset: (page - 1) * size,
    }),
  )
  return (
    <Box pl={32} pb="xs">
      <QueryView query={rows} rows={2}>
        {({ data, total_count: total }) => (
          <>
            <Text size="xs" c="dimmed">
              Minutes with a sighting
            </Text>
            <ul className="minute-list" aria-label="Minutes with a sighting">
              {data.map((row) => (
                <li key={row.event_observed_at} className="number">
                  {timeWithSeconds(row.event_observed_at)}
                </li>
              ))}
            </ul>
            {total > size && (
              <Pager page={page} size={size} total={total} rows={data.length} onPage={setPage} what="minutes" />
            )}
          </>
        )}
      </QueryView>
    </Box>
  )
}

const startOfMinute = (at: number): number => Math.floor(at / minuteMs) * minuteMs

/** The time between two instants as they are displayed, in minutes; from one minute to the same minute, in seconds. */
const lengthOf = (from: number, to: number): string =>
  duration((startOfMinute(to) - startOfMinute(from) || to - from) / 1000)

/**
 * "01:36–03:35, 1 h 59 min", or "since 01:36, 20 min" for the present stay. A stay that began before the shown period or
 * lasts beyond it says so.
 */
function describeStay(stay: Stay, isPresent: boolean): string {
  const began = Date.parse(stay.began_at)
  const ended = stay.ended_at === null ? null : Date.parse(stay.ended_at)
  const length = lengthOf(began, ended ?? Date.now())
  if (ended === null && !isPresent) return `from ${timeRange(began)}, still there at the end of this period`
  if (ended === null)
    return stay.began_earlier ? `since ${timeRange(began)} or earlier` : `since ${timeRange(began)}, ${length}`
  return stay.began_earlier ? `until ${timeRange(ended)}, ${length} or more` : `${timeRange(began, ended)}, ${length}`
}

/** The server returns at most this many notes of a stay. */
const maxNotes = 100

/** What operators wrote when they set the location during a stay. */
function Notes({ stay }: { stay: Stay }) {
  if (stay.notes.length === 0) return null
  return (
    <ul className="stay-notes" aria-label="Notes">
      {stay.notes.map((one, index) => (
        <li key={index}>
          <Text size="sm" span style={{ overflowWrap: 'anywhere' }}>
            {one.note}
          </Text>
          <Text size="xs" c="dimmed" className="number">
            {one.noted_by ?? 'Former user'}, {exactDateTime(one.noted_at)}
            {one.location_id !== stay.location_id && `, ${one.location_name ?? 'Deleted location'}`}
          </Text>
        </li>
      ))}
      {stay.notes.length === maxNotes && (
        <Text component="li" size="xs" c="dimmed">
          The latest {maxNotes} notes of this stay.
        </Text>
      )}
    </ul>
  )
}

function StayRow({ assetId, stay, name, text }: { assetId: number; stay: Stay; name: string; text: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div role="listitem">
      <div className="move-row" style={{ alignItems: 'center' }}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Hide' : 'Show'} the minutes at ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
        </ActionIcon>
        <Box style={{ flex: 1, minWidth: 0 }}>
          <Text size="sm" span fw={550}>
            <LocationLink id={stay.location_id} name={stay.location_id === null ? null : name} />
          </Text>
          <Text size="sm" span className="number">
            , {text}
          </Text>
        </Box>
        <Text size="xs" c="dimmed" className="number" visibleFrom="xs">
          {stay.minutes > 0 &&
            `${formatNumber(stay.minutes)} ${stay.minutes === 1 ? 'minute' : 'minutes'} with a sighting`}
        </Text>
      </div>
      <Notes stay={stay} />
      {isOpen && <Minutes assetId={assetId} stay={stay} />}
    </div>
  )
}

/** The period of the history, which is in the URL. */
function useZoom(): [Zoom, (zoom: Zoom) => void] {
  const { minutes, until } = useSearch({ from: '/shell/assets/$assetId' })
  const navigate = useNavigate({ from: '/assets/$assetId' })
  const spanMs = minutes === undefined ? dayMs : Math.min(longestMs, Math.max(shortestMs, minutes * minuteMs))
  const untilMs = until === undefined ? null : Date.parse(until)
  const zoom = useMemo(() => ({ spanMs, until: untilMs }), [spanMs, untilMs])
  const setZoom = (next: Zoom): void =>
    void navigate({
      search: {
        ...(next.spanMs === dayMs ? {} : { minutes: Math.round(next.spanMs / minuteMs) }),
        ...(next.until === null ? {} : { until: new Date(next.until).toISOString() }),
      },
      replace: true,
      resetScroll: false,
    })
  return [zoom, setZoom]
}

/** Where an asset was: a chart and a list of its stays, each with its minutes on demand. */
export function HistoryCard({ assetId }: { assetId: number }) {
  const [zoom, setZoom] = useZoom()
  const [shown, setShown] = useState(size)
  const now = startOfMinute(Date.now()) + minuteMs
  const from = useMemo(() => startOfMinute((zoom.until ?? Date.now()) - zoom.spanMs), [zoom.until, zoom.spanMs])
  const to = zoom.until ?? now
  const stays = useQuery(
    listStays(assetId, {
      from: new Date(from).toISOString(),
      ...(zoom.until === null ? {} : { to: new Date(zoom.until).toISOString() }),
      limit: 200,
      offset: 0,
    }),
  )
  const nameOf = (stay: Stay): string =>
    stay.location_id === null ? 'No location' : (stay.location_name ?? 'Deleted location')
  const textOf = (stay: Stay): string => describeStay(stay, zoom.until === null)
  return (
    <Card title="History">
      <ZoomControls zoom={zoom} now={now} period={timeRange(from, to)} onChange={setZoom} />
      <QueryView query={stays} rows={3}>
        {({ data, total_count: total }) => (
          <Stack gap="sm">
            <Timeline
              stays={data}
              from={from}
              to={to}
              nameOf={nameOf}
              describe={(stay) => `${nameOf(stay)}, ${textOf(stay)}`}
            />
            {total > data.length && (
              <Text size="xs" c="dimmed">
                The chart and the list have the latest {formatNumber(data.length)} of {formatNumber(total)} stays.
                Choose a shorter period for the others.
              </Text>
            )}
            {total === 0 && (
              <Text size="sm" c="dimmed">
                Not seen in this period. The history starts with the first read of one of the asset’s tags or the first
                save on the scan page.
              </Text>
            )}
            <div role="list" aria-label="Stays">
              {data.slice(0, shown).map((stay) => (
                <StayRow key={stay.began_at} assetId={assetId} stay={stay} name={nameOf(stay)} text={textOf(stay)} />
              ))}
            </div>
            {data.length > shown && (
              <Button variant="subtle" size="compact-sm" onClick={() => setShown(shown + size)}>
                Show {formatNumber(Math.min(size, data.length - shown))} more of {formatNumber(total)} stays
              </Button>
            )}
            <Text size="xs" c="dimmed">
              <Anchor
                inherit
                underline="always"
                renderRoot={(props) => <Link to="/reports" search={{ tab: 'history', asset: assetId }} {...props} />}
              >
                Export history as CSV
              </Anchor>
            </Text>
          </Stack>
        )}
      </QueryView>
    </Card>
  )
}

import { expect, it } from 'vitest'
import { changeReader } from '../../../src/readers/commands.ts'
import { Site, database, useTracking } from '../../support/tracking.ts'

let statements: string[] = []
const context = useTracking('2026-05-04T12:00:00Z', {
  onStatement: (text) => statements.push(text),
  singleServerReason: 'the statements of one process are compared',
})

/** Messages in order of arrival: clock, antenna (1 Dock, 2 Hall, 3 Yard, 9 without a location), asset. */
const script: [clock: string, antenna: number, asset: 'P' | 'C'][][] = [
  [['08:00:00.000000', 1, 'P']],
  [
    ['08:00:00.000001', 2, 'P'],
    ['08:00:59.999999', 3, 'P'],
  ],
  [
    ['08:01:59.500000', 3, 'P'],
    ['08:01:00.250000', 2, 'P'],
    ['08:01:00.250001', 1, 'P'],
    ['08:01:30.000000', 1, 'C'],
  ],
  [
    ['08:02:10.000000', 2, 'P'],
    ['08:02:09.999999', 9, 'P'],
    ['08:02:00.000000', 2, 'C'],
  ],
  [
    ['08:03:00.000000', 2, 'P'],
    ['08:04:00.000000', 2, 'P'],
    ['08:05:00.000000', 1, 'P'],
  ],
  [
    ['08:03:30.000000', 3, 'P'],
    ['08:07:00.000000', 3, 'C'],
    ['08:06:00.000000', 2, 'C'],
  ],
  [
    ['07:59:59.999999', 3, 'P'],
    ['08:05:59.999999', 3, 'P'],
    ['08:06:00.000000', 1, 'P'],
  ],
  [
    ['08:06:30.000000', 1, 'C'],
    ['08:04:15.000000', 1, 'C'],
    ['08:08:00.000000', 9, 'C'],
  ],
  [
    ['08:09:59.999999', 3, 'C'],
    ['08:10:00.000000', 3, 'C'],
    ['08:10:00.000000', 2, 'C'],
    ['08:11:00.000000', 3, 'P'],
  ],
]

const minutes = [
  'C 08:01:30.000000 Dock',
  'C 08:02:00.000000 Hall',
  'C 08:04:15.000000 Dock',
  'C 08:06:00.000000 Hall',
  'C 08:07:00.000000 Yard',
  'C 08:08:00.000000 nowhere',
  'C 08:09:59.999999 Yard',
  'C 08:10:00.000000 Yard',
  'P 07:59:59.999999 Yard',
  'P 08:00:00.000000 Dock',
  'P 08:01:00.250000 Hall',
  'P 08:02:09.999999 nowhere',
  'P 08:03:00.000000 Hall',
  'P 08:04:00.000000 Hall',
  'P 08:05:00.000000 Dock',
  'P 08:06:00.000000 Dock',
  'P 08:11:00.000000 Yard',
]

const moves = [
  '08:00:00.000000 P nowhere → Dock',
  '08:01:00.250000 P Dock → Hall',
  '08:01:30.000000 C nowhere → Dock',
  '08:02:00.000000 C Dock → Hall',
  '08:03:00.000000 P nowhere → Hall',
  '08:05:00.000000 P Hall → Dock',
  '08:07:00.000000 C Hall → Yard',
  '08:09:59.999999 C nowhere → Yard',
  '08:11:00.000000 P Dock → Yard',
]

/** Readers without smoothing: never configured, created without it, and with it disabled. */
const readers: [string, (site: Site, scanPoints: ScanPoints) => Promise<{ token: string; readerId: number }>][] = [
  ['that never had smoothing', async (site) => site],
  ['created without smoothing', (site, scanPoints) => site.createReader({ scanPoints, smoothing: null })],
  [
    'whose smoothing was turned off',
    async (site, scanPoints) => {
      const made = await site.createReader({ scanPoints, smoothing: { reads: 20, seconds: 3600, marginDb: null } })
      await changeReader(context.app.context, site.org.orgId, made.readerId, { smoothing: null })
      return made
    },
  ],
]

type ScanPoints = { antenna: number; locationId: number }[]
const asked: string[][] = []

it.each(readers)(
  'the first observation of a minute sets it, with an identical result, from a reader %s',
  async (_what, reader) => {
    const site = await Site.open(context.app, 'Dock', 'Hall', 'Yard')
    const scanPoints = site.locations.map((location, index) => ({ antenna: index + 1, locationId: location.id }))
    Object.assign(site, await reader(site, scanPoints))
    const tags = { P: (await site.createAsset('P')).tag, C: (await site.createAsset('C')).tag }
    statements = []
    for (const message of script)
      await site.sendReads(
        ...message.map(([clock, antenna, asset]) => ({
          tag: tags[asset],
          antenna,
          observed_at: `2026-05-04T${clock}Z`,
        })),
      )
    asked.push(
      statements.filter((text) =>
        /record_reads|record_sightings|resolve_reads|asset_(minutes|positions)|scan_points/.test(text),
      ),
    )

    const sql = database(context.app)
    const recorded = await sql<{ line: string }[]>`
    select a.external_key || ' ' || to_char(m.observed_at at time zone 'UTC', 'HH24:MI:SS.US') || ' '
      || coalesce(l.name, 'nowhere') as line
    from asset_minutes m join assets a on a.org_id = m.org_id and a.id = m.asset_id
    left join locations l on l.org_id = m.org_id and l.id = m.location_id
    where m.org_id = ${site.org.orgId} and m.minute = date_trunc('minute', m.observed_at) and m.source = 'reader'
    order by a.external_key, m.minute`
    expect(recorded.map((row) => row.line)).toEqual(minutes)
    const announced = (await site.moves()).map(
      (move) => `${move.at.slice(11, 26)} ${move.asset} ${move.from ?? 'nowhere'} → ${move.to}`,
    )
    expect(announced).toEqual(moves)
    expect(await site.assetLocations()).toEqual({
      P: ['YARD', '2026-05-04T08:11:00.000Z'],
      C: ['YARD', '2026-05-04T08:10:00.000Z'],
    })
  },
)

it('a reader with smoothing disabled runs the same statements as a reader that never had it', () => {
  expect(asked).toHaveLength(readers.length)
  expect(asked[0]!.filter((text) => text.includes('record_reads'))).toHaveLength(script.length)
  // Reader activity is written by a timer, separately from the reads.
  const ofReads = asked.map((one) => one.filter((text) => !/unknown_(antennas|tags)|update readers/.test(text)))
  for (const one of ofReads) expect(one).toEqual(ofReads[0])
})

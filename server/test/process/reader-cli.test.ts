import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAppContext } from '../../src/app/context.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { runCommand } from '../support/command.ts'
import { type TestDatabase, cloneDatabase } from '../support/database.ts'
import { lastseen, usePrograms, withSql } from '../support/process.ts'

usePrograms()

let database: TestDatabase
let settings: Record<string, string>
let orgId: number

beforeAll(async () => {
  database = await cloneDatabase()
  settings = { DATABASE_URL: database.url, LASTSEEN_LOG_LEVEL: 'silent' }
  const context = await openAppContext({ config: readConfig(settings), url: database.url })
  orgId = (await createOrganization(context, 'Northwind')).orgId
  await createOrganization(context, 'Twins')
  await createOrganization(context, 'Twins')
  const location = { description: null, isActive: true, validTo: null, tags: [], parent: {} }
  await createLocation(context, orgId, { ...location, externalKey: 'DOCK-3', name: 'Dock 3' })
  await createLocation(context, orgId, { ...location, externalKey: 'A=B', name: 'Odd key' })
  await context.close()
})
afterAll(() => database.drop())

const count = (table: 'readers' | 'scan_points'): Promise<number> =>
  withSql(database.url, async (sql) => Number((await sql`select count(*) from ${sql(table)}`)[0]!['count']))

describe('lastseen reader create', () => {
  it('prints the new reader as one JSON document, with its token and its ingest URLs', async () => {
    const args = ['reader', 'create', '--org', 'Northwind', '--name', 'Dock 3', '--json']
    const antennas = ['--antenna', '1=DOCK-3', '--antenna', '2=', '--antenna', '65535=A=B']
    const made = await lastseen(
      [
        ...args,
        ...antennas,
        '--format',
        'impinj',
        '--clock',
        'sent_at',
        '--smoothing',
        'reads=3,seconds=30,margin_db=6',
      ],
      { ...settings, LASTSEEN_MQTT_PORT: '1883' },
    )
    expect([made.code, made.stderr]).toEqual([0, ''])
    const facts = JSON.parse(made.stdout)
    const [row] = await withSql(database.url, (sql) => sql`select id, topic_key, name, format, clock from readers`)
    expect(row).toMatchObject({ name: 'Dock 3', format: 'impinj', clock: 'sent_at' })
    expect(facts).toEqual({
      reader_id: Number(row!['id']),
      token: expect.stringMatching(/^\S{32,}$/),
      ingest_url: 'http://127.0.0.1:8080/ingest/v1/reads',
      mqtt: {
        url: 'mqtt://127.0.0.1:1883',
        username: String(row!['id']),
        password: facts.token,
        topic: `lastseen/${row!['topic_key']}/reads`,
      },
      name: 'Dock 3',
      org_id: orgId,
      format: 'impinj',
      clock: 'sent_at',
      smoothing: { reads: 3, seconds: 30, margin_db: 6 },
      antennas: [
        { antenna: 1, location: 'DOCK-3' },
        { antenna: 2, location: null },
        { antenna: 65_535, location: 'A=B' },
      ],
    })
  })

  it('prints the URLs that the settings configure', async () => {
    const args = ['reader', 'create', '--org', String(orgId), '--name', 'Gate', '--json']
    const addresses = {
      LASTSEEN_BASE_URL: 'https://track.example.com',
      LASTSEEN_MQTT_PUBLIC_URL: 'mqtts://mq.example.com',
    }
    const facts = JSON.parse((await runCommand(args, { ...settings, ...addresses })).stdout)
    expect(facts.ingest_url).toBe('https://track.example.com/ingest/v1/reads')
    expect(facts.mqtt.url).toBe('mqtts://mq.example.com')
    expect([facts.format, facts.clock, facts.smoothing, facts.antennas]).toEqual(['auto', 'reader', null, []])
    const anywhere = JSON.parse(
      (await runCommand(args, { ...settings, LASTSEEN_HOST: '0.0.0.0', LASTSEEN_MQTT_PORT: '1883' })).stdout,
    )
    expect([anywhere.ingest_url, anywhere.mqtt.url]).toEqual([
      'http://localhost:8080/ingest/v1/reads',
      'mqtt://localhost:1883',
    ])
    const without = JSON.parse((await runCommand(args, { ...settings, LASTSEEN_MQTT_PORT: '0' })).stdout)
    expect(without.mqtt.url).toBe(null)
  })

  const own = ['--org', 'Northwind', '--name', 'Gate']
  const formats = 'auto, generic, csl, impinj, zebra-fixed, zebra-handheld, gl-s10, moko, minew, theengs'
  const usage = (option: string, given: string, what: string): string =>
    `error: option '${option}' argument '${given}' is invalid. ${what} (see --help)`
  const smoothing = (given: string): string =>
    usage(
      '--smoothing <rule>',
      given,
      'It must be reads=N,seconds=N[,margin_db=N] with reads 2 to 20, seconds 1 to 3600 and margin_db 1 to 60.',
    )
  const antenna = (
    given: string,
    what = 'It must be NUMBER=LOCATION-KEY or NUMBER=, with a number from 1 to 65535.',
  ): string => usage('--antenna <number=key>', given, what)
  it.each<[string, string[], string | RegExp, (1 | 2)?]>([
    ['no organization', ['--name', 'Gate'], "error: required option '--org <name>' not specified (see --help)", 2],
    ['no name', ['--org', 'Northwind'], "error: required option '--name <name>' not specified (see --help)", 2],
    ['an unknown organization', ['--org', 'Nobody', '--name', 'Gate'], 'There is no organization called "Nobody"'],
    [
      'a name that two share',
      ['--org', 'Twins', '--name', 'Gate'],
      /^Several organizations are called "Twins": name one by its id, \d+ or \d+$/,
    ],
    ['an empty name', ['--org', 'Northwind', '--name', ' '], 'The name must have 1 to 255 characters', 2],
    [
      'a line break in the name',
      ['--org', 'Northwind', '--name', 'a\nb'],
      'The name must not contain line breaks or control characters',
      2,
    ],
    [
      'an unknown format',
      [...own, '--format', 'morse'],
      usage('--format <format>', 'morse', `Allowed choices are ${formats}.`),
      2,
    ],
    [
      'an unknown clock',
      [...own, '--clock', 'sun'],
      usage('--clock <clock>', 'sun', 'Allowed choices are reader, server, sent_at.'),
      2,
    ],
    ['smoothing by one read', [...own, '--smoothing', 'reads=1,seconds=30'], smoothing('reads=1,seconds=30'), 2],
    ['smoothing without seconds', [...own, '--smoothing', 'reads=3'], smoothing('reads=3'), 2],
    ['an antenna without a location', [...own, '--antenna', '1'], antenna('1'), 2],
    ['antenna 0', [...own, '--antenna', '0=DOCK-3'], antenna('0=DOCK-3'), 2],
    ['antenna 65536', [...own, '--antenna', '65536='], antenna('65536='), 2],
    ['an antenna that is no number', [...own, '--antenna', 'x=DOCK-3'], antenna('x=DOCK-3'), 2],
    [
      'an antenna given twice',
      [...own, '--antenna', '1=', '--antenna', '1=DOCK-3'],
      antenna('1=DOCK-3', 'The antenna was given twice.'),
      2,
    ],
    ['an unknown location', [...own, '--antenna', '1=MOON'], 'There is no location with the key "MOON"'],
  ])('rejects %s in one line and creates nothing', async (_what, args, line, code = 1) => {
    const before = [await count('readers'), await count('scan_points')]
    const ended = await runCommand(['reader', 'create', ...args], settings)
    expect([ended.code, ended.stdout]).toEqual([code, ''])
    const output = ended.stderr.trimEnd()
    if (typeof line === 'string') expect(output).toBe(line)
    else expect(output).toMatch(line)
    expect([await count('readers'), await count('scan_points')]).toEqual(before)
  })
})

describe('lastseen reader inbox', () => {
  it('prints the topics that lead to no reader, latest first', async () => {
    const empty = await runCommand(['reader', 'inbox', '--json'], settings)
    expect([empty.code, empty.stdout, empty.stderr]).toEqual([0, '[]\n', ''])
    await withSql(
      database.url,
      (sql) => sql`insert into unknown_topics (topic, messages, first_seen_at, last_seen_at) values
        ('lastseen/old/reads', 1, '2026-05-04T08:00:00Z', '2026-05-04T08:00:00Z'),
        ('lastseen/new/reads', 3, '2026-05-04T08:00:00Z', '2026-05-04T09:00:00Z')`,
    )
    const shown = await lastseen(['reader', 'inbox', '--json'], settings)
    const first_seen_at = '2026-05-04T08:00:00.000Z'
    expect(JSON.parse(shown.stdout)).toEqual([
      { topic: 'lastseen/new/reads', messages: 3, first_seen_at, last_seen_at: '2026-05-04T09:00:00.000Z' },
      { topic: 'lastseen/old/reads', messages: 1, first_seen_at, last_seen_at: first_seen_at },
    ])
  })
})

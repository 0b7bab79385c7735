import { describe, expect, it } from 'vitest'
import { listKeys } from '../../src/cli/key.ts'
import { createOrg, listOrgs } from '../../src/cli/org.ts'
import { render } from '../../src/cli/output.ts'
import { listReadersIn, rotateToken } from '../../src/cli/reader.ts'
import { parseOverlap } from '../../src/cli/reader-options.ts'
import { listWebhooksIn } from '../../src/cli/webhook.ts'
import { webhookDeps } from '../../src/app/webhooks.ts'
import { mintCredentials } from '../../src/auth/commands.ts'
import { now } from '../../src/kernel/clock.ts'
import { hashSecret } from '../../src/kernel/secrets.ts'
import { createReader } from '../../src/readers/commands.ts'
import { findInDirectory } from '../../src/readers/readers.sql.ts'
import { createWebhook } from '../../src/webhooks/commands.ts'
import { useAppContext } from '../support/app-context.ts'

const used = useAppContext()
const reader = { format: 'auto', clock: 'reader', scanPoints: [] }

describe('A list of the operator', () => {
  it('is a sentence as text and an empty array as JSON when it is empty', async () => {
    const { context } = used
    const lists = [await listOrgs(context), await listReadersIn(context, {}), await listWebhooksIn(context, {})]
    expect(lists.map((list) => render(list, false))).toEqual(['No organizations.\n', 'No readers.\n', 'No webhooks.\n'])
    expect(lists.map((list) => render(list, true))).toEqual(['[]\n', '[]\n', '[]\n'])
  })

  it('is a table with aligned columns as text and an array of all fields as JSON', async () => {
    const { context } = used
    const [north, south] = [await createOrg(context, { name: 'Nörd 箱' }), await createOrg(context, { name: 'South' })]
    for (const org of [north, south]) await createReader(context, Number(org['org_id']), { ...reader, name: 'Dock' })
    const list = await listReadersIn(context, {})
    expect(JSON.parse(render(list, true))).toMatchObject([
      { name: 'Dock', org: 'Nörd 箱', org_id: north['org_id'], antennas: [], last_seen_at: null },
      { name: 'Dock', org: 'South', org_id: south['org_id'], antennas: [], last_seen_at: null },
    ])
    const [head, ...lines] = render(list, false).trimEnd().split('\n')
    expect(head).toMatch(/^READER ID +NAME +ORG +FORMAT +LAST SEEN AT +READS +IGNORED +WARNING$/)
    expect(lines).toHaveLength(2)
    for (const line of lines) expect(Array.from(line).indexOf('a')).toBe(head!.indexOf('FORMAT'))
    expect((await listReadersIn(context, { org: 'South' })).rows).toHaveLength(1)
    const orgs = JSON.parse(render(await listOrgs(context), true)) as object[]
    expect(orgs[0]).toEqual({ org_id: north['org_id'], name: 'Nörd 箱', lapsed: false, created_at: expect.any(String) })
  })

  it('shows every row, however many there are', async () => {
    const { context } = used
    const org = await createOrg(context, { name: 'Many' })
    const draft = { name: 'Key', scopes: ['assets:read'], expiresAt: null, createdBy: null }
    await mintCredentials(context, Number(org['org_id']), draft, 401)
    const { rows } = await listKeys(context, { org: 'Many' })
    expect(new Set(rows.map((row) => row['key_id'])).size).toBe(401)
  })

  it('never holds a secret', async () => {
    const { context } = used
    const org = await createOrg(context, { name: 'Secrets' })
    const orgId = Number(org['org_id'])
    const draft = { name: 'Key', scopes: ['assets:read'], expiresAt: null, createdBy: null }
    const [key] = await mintCredentials(context, orgId, draft, 1)
    const { token } = await createReader(context, orgId, { ...reader, name: 'Gate' })
    const { secret } = await createWebhook(webhookDeps(context), orgId, { url: 'https://x.test/', isEnabled: true })
    const all = [
      await listKeys(context, { org: 'Secrets' }),
      await listReadersIn(context, {}),
      await listWebhooksIn(context, {}),
    ]
    for (const list of all) {
      expect(list.rows).not.toHaveLength(0)
      const shown = render(list, true) + render(list, false)
      for (const hidden of [key!.clientSecret, token, secret]) expect(shown).not.toContain(hidden)
    }
  })

  it('escapes terminal control characters in names', () => {
    const list = { columns: ['name'], rows: [{ name: 'a\u001b[2Jb' }], empty: '' }
    expect(render(list, false)).toBe('NAME\na [2Jb\n')
  })
})

describe('The token of a reader', () => {
  it('is replaced under the same topic, and the old token is invalid', async () => {
    const { context } = used
    const org = await createOrg(context, { name: 'Rotation' })
    const orgId = Number(org['org_id'])
    const made = await createReader(context, orgId, { ...reader, name: 'Gate' })
    const session = { config: context.config, isJson: true, isInit: false, progress: () => undefined }
    const rotated = await rotateToken(context, { org: 'Rotation', reader: 'Gate' }, session)
    expect(rotated['token']).not.toBe(made.token)
    expect(rotated['mqtt']).toMatchObject({ topic: `lastseen/${made.reader.topicKey}/reads` })
    const find = (token: unknown) =>
      findInDirectory(context.db.read, { tokenHash: hashSecret(String(token)) }, now(context.clock))
    expect(await find(made.token)).toBe(null)
    expect(await find(rotated['token'])).toEqual({ orgId, readerId: made.reader.id, expiresAt: null })
    const again = await rotateToken(context, { org: 'Rotation', reader: 'Gate', overlap: parseOverlap('24h') }, session)
    const until = again['previous_token_expires_at'] as string
    expect(Math.abs(Date.parse(until) - Date.now() - 86_400_000)).toBeLessThan(60_000)
    expect((await find(rotated['token']))!.expiresAt).not.toBeNull()
  })

  it.each([
    ['0s', 0],
    ['90m', 5400],
    ['7d', 604_800],
  ])('has an overlap such as %s', (text, seconds) => expect(parseOverlap(text)).toBe(seconds))

  it.each(['8d', '604801s', '1', 'h', '-1h', '1.5h', '24 h', ''])('has no overlap such as "%s"', (text) =>
    expect(() => parseOverlap(text)).toThrow('at most 7d'),
  )

  it('is selected by the reader’s name, or by id where several readers share a name', async () => {
    const { context } = used
    const org = await createOrg(context, { name: 'Twins' })
    const twins = [1, 2].map(() => createReader(context, Number(org['org_id']), { ...reader, name: 'Twin' }))
    const ids = (await Promise.all(twins)).map((one) => one.reader.id).sort((a, b) => a - b)
    const session = { config: context.config, isJson: true, isInit: false, progress: () => undefined }
    const rotate = (name: string) => rotateToken(context, { org: 'Twins', reader: name }, session)
    await expect(rotate('Twin')).rejects.toThrow(
      `Several readers of Twins are called "Twin": name one by its id, ${ids.join(' or ')}`,
    )
    await expect(rotate('None')).rejects.toThrow('Twins has no reader called "None"')
    expect(await rotate(String(ids[1]))).toMatchObject({ reader_id: ids[1] })
  })
})

import { describe, expect, it } from 'vitest'
import { listSigningKeyFacts, rotateKey } from '../../src/cli/signing-key.ts'
import { useAppContext } from '../support/app-context.ts'

const used = useAppContext()

describe('The signing keys', () => {
  it('are listed newest first without the keys themselves, and replaced by a command', async () => {
    const { context } = used
    const [{ kid: first }] = (await listSigningKeyFacts(context)).rows as [{ kid: string }]
    const rotated = await rotateKey(context, {})
    expect(rotated).toEqual({ kid: expect.any(String), previous_kid: first, previous_discarded: false })
    expect((await listSigningKeyFacts(context)).rows).toEqual([
      { kid: rotated['kid'], current: true, encrypted: false, created_at: expect.stringMatching(/Z$/) },
      { kid: first, current: false, encrypted: false, created_at: expect.stringMatching(/Z$/) },
    ])
    const last = await rotateKey(context, { discardPrevious: true })
    expect((await listSigningKeyFacts(context)).rows).toMatchObject([{ kid: last['kid'], current: true }])
  })
})

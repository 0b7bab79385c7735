import { beforeEach, describe, expect, it } from 'vitest'
import { commonPasswords } from '../../../src/users/common-passwords.ts'
import { type TestOrg, useApp } from '../../support/app.ts'
import {
  type TestUser,
  requestAs,
  newEmail,
  createSignedInUser,
  password,
  tokenFromLink,
} from '../../support/accounts.ts'
import type { Reply } from '../../support/client.ts'
import { expectApiError } from '../../support/error-response.ts'

const lines: string[] = []
const context = useApp({ notifyOperator: (line) => lines.push(line) })

let org: TestOrg
let admin: TestUser
beforeEach(async () => {
  org = await context.app.newOrg()
  admin = await createSignedInUser(org, 'admin')
})

const post = (path: string, json: object): Promise<Reply> =>
  context.app.anonymous('POST', `/api/v1/auth/${path}`, { json })
const signUp = (given: string, email = newEmail()): Promise<Reply> =>
  post('signup', { email, password: given, organization_name: 'Fabrikam' })
const weak = (field: string) => ({ fields: [{ field, code: 'invalid_value' }] })

describe('A new password', () => {
  it.each([
    ['a common password', 'qwertyuiop'],
    ['a common password in capitals', 'PASSWORD123'],
    ['digits in their order', '1234567890'],
    ['digits in their order from the middle', '5678901234'],
    ['digits backwards', '0987654321'],
    ['letters of the alphabet', 'abcdefghijkl'],
    ['letters of the alphabet backwards', 'zyxwvutsrq'],
    ['one character repeated', 'aaaaaaaaaaaa'],
    ['two characters repeated', '1212121212'],
  ])('is rejected when it is %s', async (_what, given) => {
    expectApiError(await signUp(given), 'validation_error', weak('password'))
  })

  it.each([
    ['the e-mail address', (email: string) => email],
    ['the e-mail address in capitals', (email: string) => email.toUpperCase()],
    ['the name before the @', (email: string) => email.split('@')[0]!],
  ])('is rejected when it is %s', async (_what, of) => {
    const email = `grace.hopper-${newEmail()}`
    expectApiError(await signUp(of(email), email), 'validation_error', weak('password'))
  })

  it.each(['correct horse battery', '1234567890x', 'abcdefghijz', 'пароль-как-пароль'])(
    'is accepted otherwise: %s',
    async (given) => {
      expect((await signUp(given)).status).toBe(201)
    },
  )

  it('has 10 to 1,024 characters, counted in code points', async () => {
    const ofLength = (count: number): string =>
      'horse 🐎 '
        .repeat(200)
        .slice(0, 2 * count)
        .match(/./gsu)!
        .slice(0, count)
        .join('')
    for (const count of [10, 1024]) expect((await signUp(ofLength(count))).status).toBe(201)
    expectApiError(await signUp(ofLength(9)), 'validation_error', {
      fields: [{ field: 'password', code: 'too_short', params: { min_length: 10 } }],
    })
    expectApiError(await signUp(ofLength(1025)), 'validation_error', {
      fields: [{ field: 'password', code: 'too_long', params: { max_length: 1024 } }],
    })
  })

  it('is checked in the same way when an invitation is accepted, and the invitation stays valid', async () => {
    const made = await requestAs(context.app, admin, 'POST', '/invitations', {
      json: { email: newEmail(), role: 'viewer' },
    })
    const token = tokenFromLink(made.json.data.link)
    const accept = (given: string): Promise<Reply> => post('invitations/accept', { token, password: given })
    expectApiError(await accept('1234567890'), 'validation_error', weak('password'))
    expect((await accept(password)).status).toBe(201)
  })

  it('is checked in the same way when it is changed', async () => {
    const json = { current_password: password, new_password: admin.email }
    const reply = await requestAs(context.app, admin, 'POST', '/auth/password', { json })
    expectApiError(reply, 'validation_error', weak('new_password'))
  })

  it('is checked in the same way when it is reset, and the link stays valid', async () => {
    const before = lines.length
    await post('password-reset', { email: admin.email })
    await expect.poll(() => lines.length).toBe(before + 1)
    const token = tokenFromLink(lines.at(-1)!.split(': ')[1]!)
    const confirm = (given: string): Promise<Reply> => post('password-reset/confirm', { token, new_password: given })
    for (const given of ['1234567890', admin.email])
      expectApiError(await confirm(given), 'validation_error', weak('new_password'))
    expect((await confirm('another horse battery')).status).toBe(204)
  })
})

describe('The list of common passwords', () => {
  it('contains passwords of at least the minimum length, in lower case, once each', () => {
    for (const one of commonPasswords) expect([one.length >= 10, one === one.toLowerCase()]).toEqual([true, true])
    expect(commonPasswords.size).toBeGreaterThan(100)
  })
})

import { describe, expect, it } from 'vitest'
import { toConflict, isRetryable } from '../../src/db/constraint-errors.ts'

const duplicate = (constraint: string) => ({ code: '23505', constraint, message: 'duplicate key value' })

describe('A unique violation', () => {
  it.each([
    ['assets_live_key', 'Asset with this external_key already exists'],
    ['locations_live_key', 'Location with this external_key already exists'],
    ['tags_live_value', 'A tag with this type and value already exists'],
    ['users_email', 'A user with this e-mail address already exists'],
  ])('of %s is a conflict with a detail of the service', (constraint, detail) => {
    expect(toConflict(duplicate(constraint))).toMatchObject({ kind: 'conflict', message: detail })
  })

  it.each([
    [
      'by the number of a shard behind the name',
      { code: '23505', message: 'duplicate key value violates unique constraint "assets_live_key_102008"' },
    ],
    ['with the field filled in too', duplicate('assets_live_key_102008')],
    [
      'wrapped into an internal error of the coordinator',
      { code: 'XX000', message: 'duplicate key value violates unique constraint "assets_live_key_102041"' },
    ],
  ])('is recognised on a distributed database: %s', (_what, error) => {
    expect(toConflict(error)).toMatchObject({
      kind: 'conflict',
      message: 'Asset with this external_key already exists',
    })
  })

  it.each([
    ['an unknown constraint', duplicate('assets_pk')],
    ['a foreign key', { code: '23503', constraint: 'tags_asset', message: 'violates foreign key' }],
    ['a check', { code: '23514', constraint: 'assets_window', message: 'violates check constraint' }],
    ['a syntax error', { code: '42601', message: 'syntax error at "assets_live_key"' }],
    ['an internal error', { code: 'XX000', message: 'could not read block of constraint "assets_live_key"' }],
    ['an error without a code', new Error('violates unique constraint "assets_live_key"')],
    ['no error object', 'assets_live_key'],
  ])('is not %s, which stays an error', (_what, error) => {
    expect(toConflict(error)).toBeNull()
  })
})

describe('Retryable errors', () => {
  it.each([
    ['a deadlock', '40P01', true],
    ['a serialization failure', '40001', true],
    ['a duplicate', '23505', false],
    ['a lost connection', 'CONNECTION_CLOSED', false],
    ['a timeout', '57014', false],
    ['an unknown error', undefined, false],
  ])('%s (%s): %s', (_what, code, again) => {
    expect(isRetryable({ code })).toBe(again)
  })
})

import { expect, it } from 'vitest'
import { apiError } from '../../src/kernel/errors.ts'

it('an ApiError has no stack trace, and other errors keep theirs', () => {
  expect(apiError.busy().stack).not.toContain(' at ')
  expect(new Error('a bug').stack).toContain(' at ')
})

import { expect, it } from 'vitest'
import { apiError } from '../../src/kernel/errors.ts'

it('keeps no trace of where a error was thrown, and leaves those of bugs alone', () => {
  expect(apiError.busy().stack).not.toContain(' at ')
  expect(new Error('a bug').stack).toContain(' at ')
})

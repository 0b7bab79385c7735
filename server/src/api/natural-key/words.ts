import { type AnyRoute } from '../../http/route.ts'
import { Refusal } from '../../kernel/errors.ts'

/** What the domain calls by the other surface's names has names of its own here. */
const words: Record<string, string> = {
  parent_external_key: 'parent_identifier',
  location_external_key: 'current_location',
  external_key: 'identifier',
}

const known = new RegExp(Object.keys(words).join('|'), 'g')

const inOwnWords = (text: string): string => text.replaceAll(known, (word) => words[word]!)

function translate(error: unknown): never {
  if (!(error instanceof Refusal)) throw error
  const fields = error.fields?.map((one) => ({
    ...one,
    field: inOwnWords(one.field),
    message: inOwnWords(one.message),
  }))
  throw new Refusal(error.kind, inOwnWords(error.message), {
    ...(fields === undefined ? {} : { fields }),
    headers: error.headers,
  })
}

/** The row, refusing in this surface's words. What its body and query complain of is in these words already. */
export const refusingInOwnWords = (row: AnyRoute): AnyRoute => ({
  ...row,
  handle: (call) => row.handle(call).catch(translate),
})

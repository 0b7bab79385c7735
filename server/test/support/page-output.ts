import { expect } from 'vitest'
import type { Output } from './pages.ts'

/**
 * Compares the output of commands with the output on a page. Everything must be equal, keys in the order shown, except for
 * values that differ in every run, which are recognised by their format:
 * - an instant on 4 May 2026, the day of the examples, matches any instant of the last minutes;
 * - a number over a billion matches any id, a UUID any UUID, a ULID any ULID. Equal values on the page must be
 *   equal in the output, and different values must differ;
 * - an ellipsis in a text matches any text that is not empty.
 * The page may leave out headers of an HTTP response.
 */
export class PageOutput {
  readonly #meaning = new Map<string, unknown>()

  expectMatch(shown: Output, printed: string, where: string): void {
    if (shown.language === 'json') this.#json(shown.text, printed, where)
    else if (shown.language === 'http') this.#http(shown.text, printed, where)
    else expect(printed.trimEnd(), where).toMatch(patternOf(shown.text))
  }

  #json(shown: string, printed: string, where: string): void {
    const actual = parsed(printed, where)
    const expected = this.#resolved(parsed(shown, `${where}, as it is shown`), actual)
    expect(JSON.stringify(actual, null, 2), where).toBe(JSON.stringify(expected, null, 2))
  }

  #http(shown: string, printed: string, where: string): void {
    const [head, body] = halves(shown)
    const [actualHead, actualBody] = halves(printed.replaceAll('\r\n', '\n'))
    const [status, ...headers] = head.split('\n')
    const [actualStatus, ...actualHeaders] = actualHead.split('\n')
    expect(actualStatus, `${where}\n${printed}`).toBe(status)
    for (const header of headers) {
      const name = header.slice(0, header.indexOf(':') + 1).toLowerCase()
      const actual = actualHeaders.find((one) => one.toLowerCase().startsWith(name))
      expect(actual?.slice(name.length) ?? '', `${where}: ${header}`).toMatch(patternOf(header.slice(name.length)))
    }
    if (body === '') expect(actualBody, where).toBe('')
    else this.#json(body, actualBody, where)
  }

  /** Returns the output on the page, with varying values replaced by the printed ones where those have the right format. */
  #resolved(shown: unknown, actual: unknown): unknown {
    if (Array.isArray(shown)) return shown.map((one, index) => this.#resolved(one, (actual as unknown[])?.[index]))
    if (typeof shown === 'object' && shown !== null)
      return Object.fromEntries(
        Object.entries(shown).map(([key, one]) => [
          key,
          this.#resolved(one, (actual as Record<string, unknown>)?.[key]),
        ]),
      )
    const form = forms.find((one) => one.isShown(shown))
    if (form === undefined) return shown
    // A printed value that equals the example literally is an error where the value must differ in every run.
    if (!form.stands(actual, shown)) return actual === shown ? `something else than ${String(shown)}` : shown
    return form.isSame === true ? this.#same(shown, actual) : actual
  }

  #same(shown: unknown, actual: unknown): unknown {
    const key = JSON.stringify(shown)
    if (!this.#meaning.has(key) && ![...this.#meaning.values()].includes(actual)) this.#meaning.set(key, actual)
    return this.#meaning.get(key) ?? shown
  }
}

interface Form {
  isShown(shown: unknown): boolean
  stands(actual: unknown, shown: unknown): boolean
  isSame?: true
}

const matching =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value)
const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 1e9
const isUuid = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const isUlid = matching(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
const isInstant = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const isRecent = (value: unknown): boolean =>
  isInstant(value) && Math.abs(Date.now() - Date.parse(value as string)) < 10 * 60_000

const forms: Form[] = [
  { isShown: isId, stands: isId, isSame: true },
  { isShown: isUuid, stands: isUuid, isSame: true },
  { isShown: isUlid, stands: isUlid, isSame: true },
  { isShown: matching(/^2026-05-04T.*\.\d{3}Z$/), stands: isRecent },
  { isShown: matching(/…/), stands: (actual, shown) => matching(patternOf(shown as string))(actual) },
]

const patternOf = (shown: string): RegExp =>
  new RegExp(
    String.raw`^\s*${shown
      .trim()
      .split('…')
      .map(literally)
      .join(String.raw`[^\n]+`)}$`,
  )

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

const halves = (text: string): [head: string, body: string] => {
  const [head, ...body] = text.trim().split('\n\n')
  return [head!, body.join('\n\n')]
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${where} is no JSON:\n${text}`)
  }
}

import { describe, expect, it } from 'vitest'
import { PageOutput } from '../support/page-output.ts'
import { type Output, parseBlocks } from '../support/pages.ts'

const compare = (language: Output['language'], ...pairs: [shown: string, printed: string][]) => {
  const output = new PageOutput()
  for (const [shown, printed] of pairs) output.expectMatch({ language, text: shown }, printed, 'here')
}
const recent = new Date().toISOString()

describe('Output matches a page when', () => {
  it.each<[string, [string, string][]]>([
    ['values are equal', [['{ "a": [1, "b", null, true] }', '{"a":[1,"b",null,true]}']]],
    [
      'an instant on the day of the examples matches now',
      [['{"at":"2026-05-04T08:00:00.000Z"}', `{"at":"${recent}"}`]],
    ],
    ['an id matches an id', [['{"id":4503170118275611}', '{"id":7154526681455162}']]],
    [
      'the same id matches the same id',
      [
        ['{"id":4503170118275611}', '{"id":7154526681455162}'],
        ['{"id":4503170118275611,"other":4503170118275612}', '{"id":7154526681455162,"other":7154526681455163}'],
      ],
    ],
    ['an ellipsis matches some text', [['{"token":"lsr_…"}', '{"token":"lsr_abc"}']]],
  ])('%s', (_what, pairs) => compare('json', ...pairs))

  it('an HTTP answer has the status, the headers that are shown and the body', () => {
    const printed = 'HTTP/1.1 404 Not Found\r\nDate: x\r\nx-request-id: abc\r\n\r\n{"a":1}'
    compare('http', ['HTTP/1.1 404 Not Found\nX-Request-ID: …\n\n{ "a": 1 }', printed])
  })
})

describe('Output does not match a page when', () => {
  it.each<[string, [string, string][]]>([
    ['a value differs', [['{"a":1}', '{"a":2}']]],
    ['a key is missing', [['{"a":1}', '{"a":1,"b":2}']]],
    ['a key is too many', [['{"a":1,"b":2}', '{"a":1}']]],
    ['keys come in another order', [['{"a":1,"b":2}', '{"b":2,"a":1}']]],
    ['an entry is missing', [['[1]', '[1,2]']]],
    ['an instant has another form', [['["2026-05-04T08:00:00.000Z"]', `["${recent.slice(0, 19)}Z"]`]]],
    ['an instant is long ago', [['["2026-05-04T08:00:00.000Z"]', '["2026-05-04T08:00:00.000Z"]']]],
    ['an instant that the page has set differs', [['["2025-05-31T22:00:00.123Z"]', `["${recent}"]`]]],
    ['an id is a text', [['[4503170118275611]', '["7154526681455162"]']]],
    ['one id matches two', [['[4503170118275611,4503170118275611]', '[7154526681455162,7154526681455163]']]],
    ['two ids match one', [['[4503170118275611,4503170118275612]', '[7154526681455162,7154526681455162]']]],
    ['an ellipsis matches nothing', [['["lsr_…"]', '["lsr_"]']]],
    ['it is no JSON', [['[1]', 'oops']]],
  ])('%s', (_what, pairs) => expect(() => compare('json', ...pairs)).toThrow('here'))

  it.each([
    ['the status differs', 'HTTP/1.1 400 Bad Request\n\n{"a":1}'],
    ['a header is missing', 'HTTP/1.1 404 Not Found\nRetry-After: 1\n\n{"a":1}'],
    ['a header differs', 'HTTP/1.1 404 Not Found\nDate: y\n\n{"a":1}'],
    ['there is a body', 'HTTP/1.1 404 Not Found'],
  ])('%s', (_what, shown) => {
    const printed = 'HTTP/1.1 404 Not Found\r\nDate: x\r\n\r\n{"a":1}'
    expect(() => compare('http', [shown, printed])).toThrow('here')
  })

  it('a text differs', () => expect(() => compare('text', ['… 200', '120 200\n30 429'])).toThrow('here'))
})

describe('The blocks of a page', () => {
  it('include the output directly below them, and the reason why they are not run', () => {
    const page = [
      '```sh',
      'a',
      '```',
      '',
      '```json',
      '1',
      '```',
      'Words',
      '```json',
      '2',
      '```',
      '<!-- not run: no net -->',
      '```sh',
      'b',
      '```',
    ]
    const [a, , , b] = parseBlocks(page.join('\n'))
    expect(a).toEqual({
      line: 1,
      language: 'sh',
      text: 'a',
      unrunReason: null,
      output: { language: 'json', text: '1' },
    })
    expect(b).toEqual({ line: 13, language: 'sh', text: 'b', unrunReason: 'no net', output: null })
  })
})

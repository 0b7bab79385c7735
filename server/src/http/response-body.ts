import { toJsonText } from '../kernel/json-text.ts'

/** More characters than this are serialized in several event-loop ticks, so that other requests do not wait for them. */
const lengthPerTick = 256 * 1024

const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const isPage = (body: object): body is { data: readonly unknown[] } => 'data' in body && Array.isArray(body.data)

/** Serializes a response. The records of a page are serialized one by one: a page may hold 200 of 64 KiB and more each. */
export async function serialize(body: object): Promise<string | Buffer> {
  if (!isPage(body)) return toJsonText(body)
  const { data, ...rest } = body
  const parts: Buffer[] = []
  let text = '{"data":['
  for (const [index, record] of data.entries()) {
    text += (index === 0 ? '' : ',') + toJsonText(record)
    if (text.length < lengthPerTick) continue
    parts.push(Buffer.from(text))
    text = ''
    await nextTick()
  }
  const others = toJsonText(rest).slice(1)
  text += (others === '}' ? ']' : '],') + others
  return parts.length === 0 ? text : Buffer.concat([...parts, Buffer.from(text)])
}

import { Client } from './client.mjs'
import { operations, toHttp } from './operations.mjs'
import { newRandom } from './random.mjs'

/** What two answers to two creations may differ in. */
const fresh = new Set(['id', 'external_key', 'name', 'value', 'valid_from', 'created_at', 'updated_at', 'description'])

const withoutFresh = (text) => JSON.stringify(JSON.parse(text), (key, value) => (fresh.has(key) ? '' : value))

const excerpt = (status, text) => `\n${status} ${text.slice(0, 300)} … ${text.slice(-60)}`

/** Refuses to measure a floor that does not answer what the service answers. */
export async function checkSameness({ service, floor, sample, token, names }) {
  const [one, other] = await Promise.all([Client.open(service.port), Client.open(floor.port)])
  try {
    for (const name of names.filter((one) => !operations[one].isWithoutFloor)) {
      const random = newRandom(1)
      const first = operations[name].ask(sample, random)
      const isRead = first.method === 'GET'
      const second = first.method === 'POST' ? operations[name].ask(sample, random) : first
      const statuses = [await one.send(toHttp(first, token)), await other.send(toHttp(second, token))]
      const [ours, theirs] = [one.body, other.body].map((body) => (isRead ? body : withoutFresh(body)))
      if (statuses[0] !== statuses[1] || ours !== theirs)
        throw new Error(
          `${name}: the floor answers otherwise: ${excerpt(statuses[0], ours)} ${excerpt(statuses[1], theirs)}`,
        )
    }
  } finally {
    one.close()
    other.close()
  }
}

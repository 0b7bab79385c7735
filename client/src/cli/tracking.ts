import { byId, find, pageOf, paging, recordsOf, showPage } from './records.ts'
import { CommandError } from './problems.ts'
import { type Command, type Option, given, textOf } from './usage.ts'

const span: Record<string, Option> = {
  from: { type: 'string', value: '<time>', about: 'RFC 3339, inclusive' },
  to: { type: 'string', value: '<time>', about: 'RFC 3339, inclusive' },
}

export const tracking: Command[] = [
  {
    words: 'assets history',
    takes: '<key>',
    about: 'show where an asset has been, newest first',
    options: { ...byId, ...span, ...paging },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await find(recordsOf(lastseen, 'assets'), 'assets', key!, values)
      const query = given({ ...pageOf(values), from: textOf(values, 'from'), to: textOf(values, 'to') })
      const page = await lastseen.assets.history(id, query)
      const rows = page.data.map((row) => ({
        seen_at: row.event_observed_at,
        location: row.location_external_key,
        seconds_before: row.duration_seconds,
      }))
      showPage(out, ['seen_at', 'location', 'seconds_before'], page, rows)
    },
  },
  {
    words: 'locations history',
    takes: '<key>',
    about: 'show what arrived at a location and left it, newest first',
    options: { ...byId, ...span, ...paging },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await find(recordsOf(lastseen, 'locations'), 'locations', key!, values)
      const query = given({ ...pageOf(values), from: textOf(values, 'from'), to: textOf(values, 'to') })
      const page = await lastseen.locations.history(id, query)
      const rows = page.data.map((row) => ({
        at: row.occurred_at,
        event: row.event,
        asset: row.asset_external_key,
        other_location: row.other_location_name,
      }))
      showPage(out, ['at', 'event', 'asset', 'other_location'], page, rows)
    },
  },
  {
    words: 'locations children',
    takes: '<key>',
    about: 'list what is directly in a location',
    options: { ...byId, ...paging },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await find(recordsOf(lastseen, 'locations'), 'locations', key!, values)
      const page = await lastseen.locations.children(id, pageOf(values))
      const rows = page.data.map(({ external_key, name }) => ({ key: external_key, name }))
      showPage(out, ['key', 'name'], page, rows)
    },
  },
  {
    words: 'where',
    takes: '<key...>',
    about: 'show where assets were last seen',
    async run({ out, client }, keys) {
      const lastseen = client()
      const { data } = await lastseen.reports.assetLocations({ asset_external_key: keys, limit: 200 })
      const unseen = keys.filter((key) => data.every((row) => row.asset_external_key !== key))
      for (const key of unseen)
        if ((await lastseen.assets.findByKey(key)) === null)
          throw new CommandError(`There is no asset with the key '${key}'`)
      if (out.isJson) return out.json({ data, unseen })
      const rows = data.map((row) => ({
        asset: row.asset_external_key,
        location: row.location_external_key,
        last_seen: row.asset_last_seen,
      }))
      const nowhere = unseen.map((key) => ({ asset: key, location: null, last_seen: 'never' }))
      out.table(['asset', 'location', 'last_seen'], [...rows, ...nowhere])
    },
  },
]

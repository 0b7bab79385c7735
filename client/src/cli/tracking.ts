import { findRecord, idOption, pageOptions, pageQuery, recordsApi, showPage } from './records.ts'
import { CommandError } from './errors.ts'
import { type Command, type Option, stringOption, withoutUndefined } from './args.ts'

const periodOptions: Record<string, Option> = {
  from: { type: 'string', value: '<time>', summary: 'start of the period, in RFC 3339, inclusive' },
  to: { type: 'string', value: '<time>', summary: 'end of the period, in RFC 3339, inclusive' },
}

export const trackingCommands: Command[] = [
  {
    name: 'assets history',
    arguments: '<key>',
    summary: 'show where an asset has been, newest first',
    options: { ...idOption, ...periodOptions, ...pageOptions },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await findRecord(recordsApi(lastseen, 'assets'), 'assets', key!, values)
      const query = withoutUndefined({
        ...pageQuery(values),
        from: stringOption(values, 'from'),
        to: stringOption(values, 'to'),
      })
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
    name: 'locations history',
    arguments: '<key>',
    summary: 'show arrivals at a location and departures, newest first',
    options: { ...idOption, ...periodOptions, ...pageOptions },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await findRecord(recordsApi(lastseen, 'locations'), 'locations', key!, values)
      const query = withoutUndefined({
        ...pageQuery(values),
        from: stringOption(values, 'from'),
        to: stringOption(values, 'to'),
      })
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
    name: 'locations children',
    arguments: '<key>',
    summary: 'list the locations directly in a location',
    options: { ...idOption, ...pageOptions },
    async run({ out, client }, [key], values) {
      const lastseen = client()
      const { id } = await findRecord(recordsApi(lastseen, 'locations'), 'locations', key!, values)
      const page = await lastseen.locations.children(id, pageQuery(values))
      const rows = page.data.map(({ external_key, name }) => ({ key: external_key, name }))
      showPage(out, ['key', 'name'], page, rows)
    },
  },
  {
    name: 'where',
    arguments: '<key...>',
    summary: 'show where assets were last seen',
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
      const unseenRows = unseen.map((key) => ({ asset: key, location: null, last_seen: 'never' }))
      out.table(['asset', 'location', 'last_seen'], [...rows, ...unseenRows])
    },
  },
]

import { beforeAll, expect, it } from 'vitest'
import { type Sql, render } from '../../src/db/sql.ts'
import { createLocation } from '../../src/locations/commands.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { listLocationEvents } from '../../src/tracking/history/location-events.sql.ts'
import { useAppContext } from '../support/app-context.ts'

const used = useAppContext()
let orgId: number
let hall: number
let shelf: number

beforeAll(async () => {
  orgId = (await createOrganization(used.context, 'Leaf')).orgId
  const draft = { ...{ name: 'a', description: null }, isActive: true, validTo: null, tags: [] }
  hall = (await createLocation(used.context, orgId, { ...draft, externalKey: 'HALL', parent: {} })).id
  shelf = (await createLocation(used.context, orgId, { ...draft, externalKey: 'SHELF', parent: { id: hall } })).id
})

/** The text of the statement that selects the page. */
async function pageStatement(locationId: number, includeDescendants: boolean): Promise<string> {
  let text = ''
  const db = {
    query: <Row extends object>(statement: Sql): Promise<Row[]> => {
      text = render(statement).text
      return used.context.db.read.query<Row>(statement)
    },
  }
  await listLocationEvents(db, orgId, locationId, { limit: 50, offset: 0, includeDescendants })
  return text
}

it('The history of a location without children is read the same way with and without descendants', async () => {
  expect(await pageStatement(shelf, true)).toBe(await pageStatement(shelf, false))
  expect(await pageStatement(hall, true)).not.toBe(await pageStatement(hall, false))
})

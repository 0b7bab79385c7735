import { describe, expect, it } from 'vitest'
import { snapshotPoolSize } from '../../src/db/database.ts'
import { inSnapshot } from '../../src/db/snapshot.ts'
import { useApp } from '../support/app.ts'

const context = useApp({ singleServerReason: 'The test uses the connections of one process.' })

describe('Snapshots', () => {
  it('are 4 at a time, of which one organization has at most 3; a further one waits', async () => {
    expect(snapshotPoolSize).toBe(4)
    const [one, other] = [await context.app.newOrg(), await context.app.newOrg()]
    const { db } = context.app.context
    const open = (orgId: number) => {
      const snapshot = inSnapshot(db, orgId, async function* () {
        yield orgId
        yield orgId
      })
      const state = { isOpen: false, opened: snapshot.next(), close: () => snapshot.return(undefined) }
      void state.opened.then(() => (state.isOpen = true))
      return state
    }
    const [first, second, third, fourth] = [1, 2, 3, 4].map(() => open(one.orgId))
    await Promise.all([first!.opened, second!.opened, third!.opened])
    const theirs = open(other.orgId)
    await theirs.opened
    expect(fourth!.isOpen).toBe(false)
    await theirs.close()
    await first!.close()
    await fourth!.opened
    for (const snapshot of [second, third, fourth]) await snapshot!.close()
  })
})

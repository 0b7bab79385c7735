import { describe, expect, it } from 'vitest'
import { addUserTo, createUserIn } from '../../src/app/admin.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { membershipsOf } from '../../src/users/users.sql.ts'
import { useCore } from '../support/core.ts'

describe('The operator', () => {
  const used = useCore()

  it('gives somebody a role in another organization, and another role in the same one', async () => {
    const { core } = used
    const [first, second] = [await createOrganization(core, 'First'), await createOrganization(core, 'Second')]
    const email = 'kim@example.com'
    const user = await createUserIn(core, { org: String(first.orgId), email, role: 'viewer' })
    await addUserTo(core, { org: String(second.orgId), email: 'KIM@example.com', role: 'admin' })
    await addUserTo(core, { org: String(first.orgId), email, role: 'operator' })
    expect(await membershipsOf(core.db.read, Number(user['user_id']))).toEqual([
      { orgId: first.orgId, orgName: 'First', role: 'operator' },
      { orgId: second.orgId, orgName: 'Second', role: 'admin' },
    ])
  })

  it('is told when nobody has an account with the address', async () => {
    const { core } = used
    const { orgId } = await createOrganization(core, 'Third')
    await expect(addUserTo(core, { org: String(orgId), email: 'nobody@example.com', role: 'viewer' })).rejects.toThrow(
      'Nobody has an account with the address "nobody@example.com"; make it with user create',
    )
  })
})

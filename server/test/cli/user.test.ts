import { describe, expect, it } from 'vitest'
import { addUserTo, createUserIn, listUsers, removeUserFrom, resetPasswordOf, setRoleOf } from '../../src/cli/user.ts'
import { createOrganization } from '../../src/organizations/commands.ts'
import { membershipsOf } from '../../src/users/users.sql.ts'
import { useAppContext } from '../support/app-context.ts'

describe('The operator', () => {
  const used = useAppContext()

  it('can give a user a role in another organization, and another role in the same one', async () => {
    const { context } = used
    const [first, second] = [await createOrganization(context, 'First'), await createOrganization(context, 'Second')]
    const email = 'kim@example.com'
    const user = await createUserIn(context, { org: String(first.orgId), email, role: 'viewer' })
    await addUserTo(context, { org: String(second.orgId), email: 'KIM@example.com', role: 'admin' })
    await addUserTo(context, { org: String(first.orgId), email, role: 'operator' })
    expect(await membershipsOf(context.db.read, Number(user['user_id']))).toEqual([
      { orgId: first.orgId, orgName: 'First', role: 'operator' },
      { orgId: second.orgId, orgName: 'Second', role: 'admin' },
    ])
  })

  it('gets an error when no account has the address', async () => {
    const { context } = used
    const { orgId } = await createOrganization(context, 'Third')
    const nobody = { org: String(orgId), email: 'nobody@example.com' }
    for (const attempt of [
      () => addUserTo(context, { ...nobody, role: 'viewer' }),
      () => setRoleOf(context, { ...nobody, role: 'viewer' }),
      () => removeUserFrom(context, nobody),
      () => resetPasswordOf(context, nobody),
    ])
      await expect(attempt()).rejects.toThrow(
        'There is no account with the address "nobody@example.com"; create it with user create',
      )
  })

  it('can list the members of one organization, or all accounts, including those without a membership', async () => {
    const { context } = used
    const { orgId } = await createOrganization(context, 'Fourth')
    const org = String(orgId)
    const admin = await createUserIn(context, { org, email: 'a4@example.com', role: 'admin' })
    const leaver = await createUserIn(context, { org, email: 'b4@example.com', role: 'viewer' })
    const member = { user_id: admin['user_id'], email: 'a4@example.com', role: 'admin', org_id: orgId, org: 'Fourth' }
    expect((await listUsers(context, { org })).rows).toEqual([
      member,
      { user_id: leaver['user_id'], email: 'b4@example.com', role: 'viewer', org_id: orgId, org: 'Fourth' },
    ])
    expect(await removeUserFrom(context, { org, email: 'B4@example.com' })).toEqual({
      ...{ user_id: leaver['user_id'], email: 'b4@example.com', org_id: orgId, removed: true },
    })
    expect((await listUsers(context, { org })).rows).toEqual([member])
    expect((await listUsers(context, {})).rows).toEqual(
      expect.arrayContaining([
        member,
        { user_id: leaver['user_id'], email: 'b4@example.com', role: null, org_id: null, org: null },
      ]),
    )
  })

  it('cannot remove or demote the last admin of an organization', async () => {
    const { context } = used
    const { orgId } = await createOrganization(context, 'Fifth')
    const last = { org: String(orgId), email: 'last@example.com' }
    await createUserIn(context, { ...last, role: 'admin' })
    const errorText = 'An organization needs at least one admin'
    await expect(removeUserFrom(context, last)).rejects.toThrow(errorText)
    await expect(setRoleOf(context, { ...last, role: 'viewer' })).rejects.toThrow(errorText)
    await expect(addUserTo(context, { ...last, role: 'viewer' })).rejects.toThrow(errorText)
    expect((await listUsers(context, { org: last.org })).rows).toMatchObject([{ role: 'admin' }])
  })

  it('gets an error when an account is not a member of the organization', async () => {
    const { context } = used
    const [home, other] = [await createOrganization(context, 'Sixth'), await createOrganization(context, 'Seventh')]
    await createUserIn(context, { org: String(home.orgId), email: 'guest@example.com', role: 'admin' })
    const elsewhere = { org: String(other.orgId), email: 'guest@example.com' }
    const errorText = 'guest@example.com is not a member of Seventh'
    await expect(removeUserFrom(context, elsewhere)).rejects.toThrow(errorText)
    await expect(setRoleOf(context, { ...elsewhere, role: 'viewer' })).rejects.toThrow(errorText)
  })
})

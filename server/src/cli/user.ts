import { type Command, Option } from 'commander'
import { changeRole, removeMember } from '../accounts/members.ts'
import { setPassword } from '../accounts/passwords.ts'
import type { AppContext } from '../app/context.ts'
import { type Facts, OperatorError, UsageError, organizationNamed } from '../app/operator.ts'
import { now } from '../kernel/clock.ts'
import { codePointLength, textProblem } from '../kernel/json.ts'
import { type Role, roles } from '../kernel/scopes.ts'
import { newPassword } from '../kernel/secrets.ts'
import { createUser } from '../users/commands.ts'
import { addMembership, findMember, listMembers } from '../users/members.sql.ts'
import { passwordWeakness } from '../users/password-rules.ts'
import { foldEmail } from '../users/user.ts'
import { listAccounts } from '../users/users.sql.ts'
import { allPages, checkLine, withContext, operatorCommand } from './command.ts'
import type { Listing } from './output.ts'
import { accountOf, deleteUserAccount, exportAccount } from './user-data.ts'

interface Membership {
  org: string
  email: string
  role: Role
}

function checkPassword(password: string, email: string): string {
  if (codePointLength(password) < 10 || codePointLength(password) > 1024 || textProblem(password) !== null)
    throw new UsageError('A password must have 10 to 1024 characters and no control characters')
  const weakness = passwordWeakness(password, foldEmail(email))
  if (weakness !== null) throw new UsageError(`The password ${weakness}; choose another one`)
  return password
}

async function memberOf(context: AppContext, { org, email }: Pick<Membership, 'org' | 'email'>) {
  const { orgId, name } = await organizationNamed(context, org)
  const user = await accountOf(context, email)
  if ((await findMember(context.db.read, orgId, user.userId)) === null)
    throw new OperatorError(`${user.email} is not a member of ${name}`)
  return { orgId, user }
}

export async function createUserIn(context: AppContext, options: Membership & { password?: string }): Promise<Facts> {
  if (!/^[^\s@]+@[^\s@]+$/.test(checkLine('The e-mail address', options.email)))
    throw new UsageError(`${JSON.stringify(options.email)} is not an e-mail address`)
  const password = checkPassword(options.password ?? newPassword(), options.email)
  const { orgId } = await organizationNamed(context, options.org)
  const { role } = options
  const user = await createUser(context, orgId, { email: options.email, password, role })
  return { user_id: user.userId, email: user.email, role, org_id: orgId, password }
}

/** Adds an existing account to the organization, or changes its role if it is already a member. */
export async function addUserTo(context: AppContext, options: Membership): Promise<Facts> {
  const { orgId } = await organizationNamed(context, options.org)
  const { userId, email } = await accountOf(context, options.email)
  if ((await findMember(context.db.read, orgId, userId)) !== null)
    await changeRole(context, orgId, userId, options.role)
  else {
    await context.quotas.assertRoom(orgId, 'members')
    await context.db.globalTransaction((tx) => addMembership(tx, userId, orgId, options.role, now(context.clock)))
  }
  return { user_id: userId, email, role: options.role, org_id: orgId }
}

export async function setRoleOf(context: AppContext, options: Membership): Promise<Facts> {
  const { orgId, user } = await memberOf(context, options)
  const { role } = await changeRole(context, orgId, user.userId, options.role)
  return { user_id: user.userId, email: user.email, role, org_id: orgId }
}

export async function removeUserFrom(context: AppContext, options: Pick<Membership, 'org' | 'email'>): Promise<Facts> {
  const { orgId, user } = await memberOf(context, options)
  await removeMember(context, orgId, user.userId)
  return { user_id: user.userId, email: user.email, org_id: orgId, removed: true }
}

export async function resetPasswordOf(
  context: AppContext,
  options: { email: string; password?: string },
): Promise<Facts> {
  const password = checkPassword(options.password ?? newPassword(), options.email)
  const user = await accountOf(context, options.email)
  await setPassword(context, user.userId, password)
  return { user_id: user.userId, email: user.email, password }
}

/** Lists one row per membership; without `--org`, also accounts without a membership. */
export async function listUsers(context: AppContext, options: { org?: string }): Promise<Listing> {
  return {
    columns: ['user_id', 'email', 'role', 'org_id', 'org'],
    rows: options.org === undefined ? await allAccounts(context) : await membersOf(context, options.org),
    empty: 'No users.',
  }
}

async function allAccounts(context: AppContext): Promise<Facts[]> {
  const accounts = await listAccounts(context.db.read)
  return accounts.map(({ userId, email, role, orgId, orgName }) => ({
    user_id: userId,
    email,
    role,
    org_id: orgId,
    org: orgName,
  }))
}

async function membersOf(context: AppContext, org: string): Promise<Facts[]> {
  const { orgId, name } = await organizationNamed(context, org)
  const members = await allPages((page) => listMembers(context.db.read, orgId, page))
  return members.map(({ userId, email, role }) => ({ user_id: userId, email, role, org_id: orgId, org: name }))
}

const orgOption = ['--org <name>', 'the organization, by name or id'] as const
const emailOption = ['--email <address>', 'the e-mail address of the account'] as const
const roleOption = (): Option => new Option('--role <role>', 'the role').choices(roles).makeOptionMandatory()
const passwordOption = ['--password <password>', 'generated and printed when absent'] as const

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('user accounts and their roles')
  operatorCommand(user, 'list', 'list accounts and their roles')
    .option('--org <name>', 'only the members of this organization, by name or id')
    .action(withContext(listUsers))
  operatorCommand(user, 'create', 'create an account with a role in an organization')
    .requiredOption(...orgOption)
    .requiredOption(...emailOption)
    .addOption(roleOption())
    .option(...passwordOption)
    .action(withContext(createUserIn))
  operatorCommand(user, 'add', 'give an existing account a role in an organization')
    .requiredOption(...orgOption)
    .requiredOption(...emailOption)
    .addOption(roleOption())
    .action(withContext(addUserTo))
  operatorCommand(user, 'set-role', 'change the role of a member')
    .requiredOption(...orgOption)
    .requiredOption(...emailOption)
    .addOption(roleOption())
    .action(withContext(setRoleOf))
  operatorCommand(user, 'remove', 'end a membership and its sessions; the account is kept')
    .requiredOption(...orgOption)
    .requiredOption(...emailOption)
    .action(withContext(removeUserFrom))
  operatorCommand(user, 'export', 'write everything that is stored about a user into a file')
    .requiredOption(...emailOption)
    .requiredOption('--out <file>', 'the file, gzipped NDJSON; it must not exist')
    .action(withContext(exportAccount))
  operatorCommand(user, 'delete', 'permanently delete an account with everything that is about it')
    .requiredOption(...emailOption)
    .requiredOption('--confirm <address>', 'the address again, as confirmation')
    .action(withContext(deleteUserAccount))
  operatorCommand(user, 'reset-password', 'set a new password and end every session of the user')
    .requiredOption(...emailOption)
    .option(...passwordOption)
    .action(withContext(resetPasswordOf))
}

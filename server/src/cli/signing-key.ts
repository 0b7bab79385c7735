import type { Command } from 'commander'
import type { AppContext } from '../app/context.ts'
import type { Facts } from '../app/operator.ts'
import { rotateSigningKey } from '../auth/signing-keys.ts'
import { listSigningKeys } from '../db/installation.ts'
import { formatMillis, fromDatabase } from '../kernel/instant.ts'
import { withContext, operatorCommand } from './command.ts'
import type { Listing } from './output.ts'

export async function listSigningKeyFacts(context: AppContext): Promise<Listing> {
  const keys = await listSigningKeys(context.db)
  return {
    columns: ['kid', 'current', 'encrypted', 'created_at'],
    rows: keys.map(({ kid, isCurrent, isEncrypted, createdAt }) => ({
      kid,
      current: isCurrent,
      encrypted: isEncrypted,
      created_at: formatMillis(fromDatabase(createdAt)),
    })),
    empty: 'No signing keys.',
  }
}

export async function rotateKey(context: AppContext, options: { discardPrevious?: boolean }): Promise<Facts> {
  const isPreviousDiscarded = options.discardPrevious ?? false
  const { kid, previous } = await rotateSigningKey(context, { isPreviousDiscarded })
  return { kid, previous_kid: previous, previous_discarded: isPreviousDiscarded }
}

export function addSigningKeyCommands(program: Command): void {
  const signingKey = program.command('signing-key').description('the keys that sign access tokens')
  operatorCommand(signingKey, 'list', 'list the signing keys, newest first').action(withContext(listSigningKeyFacts))
  operatorCommand(signingKey, 'rotate', 'sign access tokens with a new key from now on')
    .option('--discard-previous', 'reject tokens of the previous key at once, for example after a leak')
    .action(withContext(rotateKey))
}

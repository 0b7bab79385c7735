import type { Command } from 'commander'
import { backUpTo, restoreFrom } from './backup.ts'
import { distributeDatabase, openDatabase, prepareDatabase } from '../app/context.ts'
import { jsonOption, operatorCommand, print, sessionOf } from './command.ts'

/** Commands that work on the database as a whole. */
export function addDatabaseCommands(program: Command, version: string): void {
  program
    .command('migrate')
    .description('bring the database schema up to date and exit')
    .option('--init', 'create the embedded database if it does not exist')
    .action(async (_options: object, command: Command) => {
      const { config, progress, isInit } = sessionOf(command)
      const database = await openDatabase(config, { progress, mayCreate: isInit })
      try {
        if ((await prepareDatabase(config, database.url, progress)) === 0) progress('The database schema is up to date')
      } finally {
        await database.release()
      }
    })
  program
    .command('backup')
    .description('write the whole database to a file while the service runs')
    .argument('<file>', 'a file that does not exist yet')
    .option('--verify', 'then restore the file into a temporary database and check it')
    .option(...jsonOption)
    .action(async (file: string, options: { verify?: boolean }, command: Command) => {
      const { config, progress, isJson } = sessionOf(command)
      const isVerified = options.verify ?? false
      print(await backUpTo(config, file, { program: version, isVerified, progress }), isJson)
    })
  program
    .command('restore')
    .description('restore a backup into an empty database; creates the embedded database if it does not exist')
    .argument('<file>', 'a backup')
    .option('--replace', 'delete the current contents of the database first')
    .option(...jsonOption)
    .action(async (file: string, options: { replace?: boolean }, command: Command) => {
      const { config, progress, isJson } = sessionOf(command)
      print(await restoreFrom(config, file, options.replace ?? false, progress), isJson)
    })
  operatorCommand(program, 'distribute', 'distribute the database over the nodes of a Citus cluster').action(
    async (_options: object, command: Command) => {
      const { config, progress, isJson, isInit } = sessionOf(command)
      print({ ...(await distributeDatabase(config, { progress, mayCreate: isInit })) }, isJson)
    },
  )
}

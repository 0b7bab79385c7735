import { isForClient } from '../client/bin/command-names.mjs'

/** `npx lastseen` in a checkout. */
await import(isForClient(process.argv.slice(2)) ? './client.mjs' : './start.mjs')

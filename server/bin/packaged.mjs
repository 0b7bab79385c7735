import { isForClient } from '../client/bin/command-names.mjs'

/** The entry point of the installed package, in which everything is built. */
await import(isForClient(process.argv.slice(2)) ? '../client/bin/lastseen.mjs' : '../dist/main.js')

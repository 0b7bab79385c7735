#!/usr/bin/env node
import { words } from '../../client/bin/words.mjs'

/** One word for everybody: who works with a server through its API gets the client, who runs it the server. */
const [first] = process.argv.slice(2).filter((one) => !one.startsWith('-'))
await import(words.includes(first) ? '../../scripts/client.mjs' : '../../scripts/start.mjs')

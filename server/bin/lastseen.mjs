#!/usr/bin/env node
import { isForClient } from '../../client/bin/words.mjs'

await import(isForClient(process.argv.slice(2)) ? '../../scripts/client.mjs' : '../../scripts/start.mjs')

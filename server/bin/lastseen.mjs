#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=150
import { isForClient } from '../../client/bin/words.mjs'

await import(isForClient(process.argv.slice(2)) ? '../../scripts/client.mjs' : '../../scripts/start.mjs')

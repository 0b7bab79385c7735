#!/usr/bin/env node
import { isForClient } from '../../client/bin/words.mjs'

/** Where everything is installed and built, as in an image: nothing is looked after at the start. */
await import(isForClient(process.argv.slice(2)) ? '../../client/bin/lastseen.mjs' : '../dist/main.js')

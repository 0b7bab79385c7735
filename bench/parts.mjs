import { growth } from './growth.mjs'
import { ingest } from './ingest.mjs'
import { neighbours } from './neighbours.mjs'
import { open } from './open.mjs'
import { overload } from './overload.mjs'
import { parse } from './parse.mjs'
import { register } from './register.mjs'
import { web } from './web.mjs'
import { webhooks } from './webhooks.mjs'
import { workers } from './workers.mjs'

/**
 * What a run consists of, in this order. A part has a name to ask for it (or several `choices`), a title in the
 * documentation, its pace in a full and in a quick run with the minutes it may take, and three functions:
 * `measure(started, postgres, options)` gives its result, `render` its table, `misses` the bars it missed. An `isExtra`
 * one is left out unless it or all are asked for.
 */
export const parts = [register, open, ingest, webhooks, workers, overload, neighbours, web, growth, parse]

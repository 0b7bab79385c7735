#!/usr/bin/env node
import { ensureBuilt } from '../../scripts/ensure.mjs'

ensureBuilt()
await import('../dist/main.js')

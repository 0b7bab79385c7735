#!/usr/bin/env node
import { existsSync } from 'node:fs'

/** A checkout installs and builds what is missing. An installed package contains no sources. */
const isCheckout = existsSync(new URL('../src', import.meta.url))
await import(isCheckout ? '../../scripts/lastseen.mjs' : './packaged.mjs')

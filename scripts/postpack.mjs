import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'
import { copiedRoots } from './package-copies.mjs'

const name = process.argv[2]
for (const path of copiedRoots(name)) rmSync(join(root, name, path), { recursive: true, force: true })

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settings } from '../../src/config/settings.ts'
import { repository } from './process.ts'
import { isFull } from './rounds.ts'

const manifest = readFileSync(join(repository, 'server/package.json'), 'utf8')

/** The version of the program, which the packaging files and the manual repeat. */
export const { version } = JSON.parse(manifest) as { version: string }

const known = new Set(
  Object.values(settings).flatMap((row) => ('secret' in row ? [row.name, `${row.name}_FILE`] : [row.name])),
)

/** Whether the program, Node.js or the exporter of traces reads this variable. */
export const isSetting = (name: string): boolean =>
  name === 'NODE_ENV' || name.startsWith('OTEL_EXPORTER_OTLP_') || known.has(name)

/** The nightly run of CI installs every program (.ci/run): there, a test whose program is missing fails. */
export const mustRunAll = isFull && process.env['CI'] !== undefined

/** Whether tests of these programs are skipped on this machine. */
export const lacks = (...files: string[]): boolean => !mustRunAll && !files.every((file) => existsSync(file))

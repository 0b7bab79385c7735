import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the server package. The relative path is the same from the sources and from the build. */
const packageDir = fileURLToPath(new URL('../..', import.meta.url))

/** The installed package contains no sources. */
const isCheckout = existsSync(join(packageDir, 'src'))

/**
 * The XDG data directory of the user. For root it is the system-wide data directory, because PostgreSQL then runs as
 * another user.
 */
function userDataDir(): string {
  if (process.getuid?.() === 0) return '/var/lib/lastseen'
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'lastseen')
}

/** Where a relative data directory begins. Installing the package again replaces its folder, so data is never in it. */
export const baseDir = isCheckout ? join(packageDir, '..') : userDataDir()

/** The build output of the web app, which the tarball of the package contains. */
export const webFolder = isCheckout ? join(packageDir, '../web/dist') : join(packageDir, 'web')

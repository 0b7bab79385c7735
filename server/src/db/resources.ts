/** Memory and disk limits of one database session. */
import type { Parameters } from './client.ts'

/** Memory for one sort or hash table, regardless of the server's setting. */
export const memoryParameters: Parameters = { work_mem: '8MB' }

/** Runs on a new connection. Without the privilege, which a migration grants, the server's own limit applies. */
export const limitTemporaryFiles = `
  select set_config('temp_file_limit', '256MB', false) where has_parameter_privilege('temp_file_limit', 'set')`

/** What one session may take of the memory and the disk of the database server. */
import type { Parameters } from './client.ts'

/** Memory of one sort or hash table, whatever the server is set to. */
export const memoryParameters: Parameters = { work_mem: '8MB' }

/** Runs on a new connection. Without the grant of migration 0022 the server's own setting stays. */
export const limitTemporaryFiles = `
  select set_config('temp_file_limit', '256MB', false) where has_parameter_privilege('temp_file_limit', 'set')`

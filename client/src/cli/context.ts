import type { Lastseen } from '../lastseen.ts'
import type { Output } from './output.ts'

/** What a command works with. */
export interface Context {
  readonly out: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Signs in with the credential of the environment or of the config file. */
  readonly client: () => Lastseen
}

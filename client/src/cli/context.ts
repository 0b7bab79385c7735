import type { Lastseen } from '../lastseen.ts'
import type { Output } from './output.ts'

/** The environment of a command. */
export interface Context {
  readonly out: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Creates a client with the credential from the environment or the config file. */
  readonly client: () => Lastseen
}

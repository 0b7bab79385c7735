import { type operations as NaturalKeyOperations, routes as naturalKeyRoutes } from './generated/natural-key.ts'
import { type operations as PrimaryOperations, routes as primaryRoutes } from './generated/primary.ts'
import { Surface } from './operations.ts'
import type { TokenSource } from './tokens.ts'
import type { Transport } from './transport.ts'

/** The id-based API: `request` calls its operations by name. */
export type Primary = Surface<PrimaryOperations>

/** The natural-key API of v1.0.0: `request` calls its operations by name. */
export type NaturalKey = Surface<NaturalKeyOperations>

export const primarySurface = (baseUrl: string, tokens: TokenSource, transport: Transport): Primary =>
  new Surface<PrimaryOperations>(baseUrl, primaryRoutes, tokens, transport)

export const naturalKeySurface = (baseUrl: string, tokens: TokenSource, transport: Transport): NaturalKey =>
  new Surface<NaturalKeyOperations>(baseUrl, naturalKeyRoutes, tokens, transport)

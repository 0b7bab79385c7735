import { type operations as NaturalKeyOperations, routes as naturalKeyRoutes } from './generated/natural-key.ts'
import { type operations as PrimaryOperations, routes as primaryRoutes } from './generated/primary.ts'
import { Surface } from './operations.ts'

/** The id-based surface. */
export type Primary = Surface<PrimaryOperations>

/** The natural-key surface of v1.0.0. */
export type NaturalKey = Surface<NaturalKeyOperations>

type Means = ConstructorParameters<typeof Surface>

export const primarySurface = (baseUrl: string, tokens: Means[2], transport: Means[3]): Primary =>
  new Surface<PrimaryOperations>(baseUrl, primaryRoutes, tokens, transport)

export const naturalKeySurface = (baseUrl: string, tokens: Means[2], transport: Means[3]): NaturalKey =>
  new Surface<NaturalKeyOperations>(baseUrl, naturalKeyRoutes, tokens, transport)

export type { Clock } from './clock.ts'
export {
  BadRequestError,
  ConflictError,
  type FieldProblem,
  ForbiddenError,
  LastseenError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  StaleError,
  UnauthorizedError,
  ValidationError,
} from './errors.ts'
export { Lastseen, type LastseenOptions } from './lastseen.ts'
export type { LiveEvent, LiveOptions } from './live.ts'
export { applyMergePatch, mergePatch } from './merge-patch.ts'
export type { CallOptions } from './operations.ts'
export type { Page } from './pages.ts'
export type { UpdateOptions } from './records.ts'
export type { Query } from './query.ts'
export type { RequestOptions } from './requests.ts'
export {
  type Bulk,
  type BulkFile,
  BulkJobError,
  type BulkSource,
  type ExportPeriod,
  type ImportOptions,
} from './resources/bulk.ts'
export type { NaturalKey, Primary } from './surfaces.ts'
export type { AccessTokenProvider } from './tokens.ts'
export type { RequestInfo, ResponseInfo } from './transport.ts'
export type * from './types.ts'
export { version } from './version.ts'
export {
  type AssetMoved,
  type Delivery,
  type VerifyOptions,
  WebhookVerificationError,
  verifyWebhook,
} from './webhooks.ts'

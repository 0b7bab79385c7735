import { ApiError, errorKinds } from '../kernel/errors.ts'

/** The only maker of an error body. */
export function errorBody(refusal: ApiError, instance: string, requestId: string): string {
  const { status, title } = errorKinds[refusal.kind]
  return JSON.stringify({
    error: {
      type: refusal.kind,
      title,
      status,
      detail: refusal.message,
      instance,
      request_id: requestId,
      ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
    },
  })
}

/** What a bug looks like from outside: nothing about its inside. */
export const internalError = new ApiError('internal_error', 'An unexpected error occurred')

export const toApiError = (error: unknown): ApiError => (error instanceof ApiError ? error : internalError)

import { ApiError, errorKinds } from '../kernel/errors.ts'

/** Serializes an error. Every error body of the service is built here. */
export function errorBody(error: ApiError, instance: string, requestId: string): string {
  const { status, title } = errorKinds[error.kind]
  return JSON.stringify({
    error: {
      type: error.kind,
      title,
      status,
      detail: error.message,
      instance,
      request_id: requestId,
      ...(error.fields === undefined ? {} : { fields: error.fields }),
    },
  })
}

/** The response to an unexpected error. It reveals nothing about the cause. */
export const internalError = new ApiError('internal_error', 'An unexpected error occurred')

export const toApiError = (error: unknown): ApiError => (error instanceof ApiError ? error : internalError)

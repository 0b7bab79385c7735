import { Refusal, errorKinds } from '../kernel/errors.ts'

/** The only maker of an error body. */
export function errorBody(refusal: Refusal, instance: string, requestId: string): string {
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
export const internalError = new Refusal('internal_error', 'An unexpected error occurred')

export const asRefusal = (error: unknown): Refusal => (error instanceof Refusal ? error : internalError)

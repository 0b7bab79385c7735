export interface ConnectError {
  code?: string
  message: string
  errors?: ConnectError[]
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
}

/** The driver's messages for a connection attempt or a query that timed out. */
const timeoutMessages = new Set(['timeout expired', 'Query read timeout'])

/** A readable reason why a connection failed. */
export const connectionErrorReason = ({ code, message, errors }: ConnectError): string =>
  reasons[code ?? ''] ??
  (timeoutMessages.has(message)
    ? 'it did not answer in time'
    : message || errors?.map(connectionErrorReason).join('; ') || code || 'the connection failed')

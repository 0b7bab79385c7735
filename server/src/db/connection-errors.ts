export interface ConnectError {
  code?: string
  message: string
  errors?: ConnectError[]
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'this host name is not known',
  EAI_AGAIN: 'this host name cannot be looked up now',
}

/** What the driver says when a connection or an answer took too long. */
const timeouts = new Set(['timeout expired', 'Query read timeout'])

/** Why a connection failed, in plain words. */
export const connectionErrorReason = ({ code, message, errors }: ConnectError): string =>
  reasons[code ?? ''] ??
  (timeouts.has(message)
    ? 'it did not answer in time'
    : message || errors?.map(connectionErrorReason).join('; ') || code || 'the connection failed')

export interface ConnectError {
  code?: string
  message: string
  errors?: ConnectError[]
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'this host name is not known',
  EAI_AGAIN: 'this host name cannot be looked up now',
  CONNECT_TIMEOUT: 'it did not answer within 10 seconds',
}

/** Why a connection failed, in plain words. */
export const reasonOf = ({ code, message, errors }: ConnectError): string =>
  reasons[code ?? ''] ?? (message || errors?.map(reasonOf).join('; ') || code || 'the connection failed')

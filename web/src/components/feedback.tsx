import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { LastseenError, NetworkError, RateLimitedError } from '../../../client/src/errors.ts'
import { IconAlertTriangle } from './icons.ts'

const titles: Record<string, string> = {
  forbidden: 'Your role does not allow this',
  not_found: 'This record does not exist or was deleted',
  conflict: 'This conflicts with existing data',
  rate_limited: 'Too many requests',
  unauthorized: 'Sign-in failed',
  validation_error: 'The input is not valid',
  internal_error: 'Something went wrong on the server',
}

function describeError(error: unknown): { title: string; detail: string; requestId: string } {
  if (error instanceof LastseenError) {
    const wait = error instanceof RateLimitedError ? ` Try again in ${error.retryAfterSeconds} s.` : ''
    const title = titles[error.status >= 500 ? 'internal_error' : error.type] ?? 'The server rejected this'
    return { title, detail: error.message + wait, requestId: error.requestId ?? '' }
  }
  if (error instanceof NetworkError)
    return { title: 'No connection', detail: 'The server cannot be reached. Check the network.', requestId: '' }
  return { title: 'The action failed', detail: error instanceof Error ? error.message : String(error), requestId: '' }
}

/** An error message with the request id that the server writes to its log. The title is that of the error by default. */
export function ErrorAlert({
  error,
  title,
  onRetry,
}: {
  error: unknown
  title?: string
  onRetry?: (() => void) | undefined
}) {
  const { title: defaultTitle, detail, requestId } = describeError(error)
  return (
    <Alert color="red" title={title ?? defaultTitle} icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{detail}</Text>
      {requestId !== '' && (
        <Text size="xs" mt={6}>
          Request ID <Code fz="xs">{requestId}</Code>
        </Text>
      )}
      {onRetry !== undefined && (
        <Group mt="sm">
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        </Group>
      )}
    </Alert>
  )
}

export function notifyError(error: unknown): void {
  const { title, detail, requestId } = describeError(error)
  notifications.show({
    color: 'red',
    title,
    message: requestId === '' ? detail : `${detail} (request ID ${requestId})`,
    autoClose: 9000,
  })
}

/** Reports an action for ten seconds with a button that undoes it. */
export function notifyWithUndo(message: string, onUndo: () => void): void {
  const notification = notifications.show({
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(notification)
            onUndo()
          }}
        >
          Undo
        </Button>
      </Group>
    ),
    autoClose: 10_000,
  })
}

export function notify(message: string, title?: string): void {
  notifications.show({ color: 'harbor', message, ...(title === undefined ? {} : { title }), autoClose: 4000 })
}

import { Alert, Button, Code, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { ApiError, Unreachable } from '../api/errors.ts'
import { IconAlertTriangle } from './icons.ts'

const titles: Record<string, string> = {
  forbidden: 'Your role does not allow this',
  not_found: 'This does not exist, or not any more',
  conflict: 'This clashes with something that is already there',
  rate_limited: 'Too many tries',
  internal_error: 'Something went wrong on the server',
}

function wordsFor(error: unknown): { title: string; detail: string; requestId: string } {
  if (error instanceof ApiError) {
    const wait = error.retryAfterSeconds === null ? '' : ` Try again in ${error.retryAfterSeconds} s.`
    const title = titles[error.type] ?? 'That did not work'
    return { title, detail: error.message + wait, requestId: error.requestId }
  }
  if (error instanceof Unreachable)
    return { title: 'No connection', detail: 'The server cannot be reached. Check the network.', requestId: '' }
  return { title: 'That did not work', detail: error instanceof Error ? error.message : String(error), requestId: '' }
}

/** An error in plain words, with the id under which the server's log knows it. */
export function ErrorAlert({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { title, detail, requestId } = wordsFor(error)
  return (
    <Alert color="red" title={title} icon={<IconAlertTriangle size={18} />} role="alert">
      <Text size="sm">{detail}</Text>
      {requestId !== '' && (
        <Text size="xs" mt={6}>
          Request <Code fz="xs">{requestId}</Code>
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
  const { title, detail, requestId } = wordsFor(error)
  notifications.show({
    color: 'red',
    title,
    message: requestId === '' ? detail : `${detail} (request ${requestId})`,
    autoClose: 9000,
  })
}

export function notify(message: string, title?: string): void {
  notifications.show({ color: 'harbor', message, ...(title === undefined ? {} : { title }), autoClose: 4000 })
}

import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useState } from 'react'

const questions = {
  input: {
    title: 'Discard your input?',
    text: 'What you entered in this dialog is not saved.',
    back: 'Keep editing',
    close: 'Discard',
  },
  secret: {
    title: 'Close without copying?',
    text: 'It cannot be shown again.',
    back: 'Go back',
    close: 'Close',
  },
}

/**
 * A dialog that asks before Escape, a click outside, the close button, or leaving the page discards what `guards` names.
 * When the user closes the window, the browser asks.
 */
export function GuardedModal({
  guards,
  opened,
  onClose,
  children,
  ...rest
}: ModalProps & { guards: keyof typeof questions | null }) {
  const [isClosing, setClosing] = useState(false)
  const isGuarding = opened && guards !== null
  const leaving = useBlocker({
    // A dialog that the URL opens closes by replacing the URL of its page.
    shouldBlockFn: useCallback(
      ({ current, next, action }) => current.pathname !== next.pathname || (action !== 'PUSH' && action !== 'REPLACE'),
      [],
    ),
    disabled: !isGuarding,
    enableBeforeUnload: isGuarding,
    withResolver: true,
  })
  const isLeaving = leaving.status === 'blocked'
  const question = questions[guards ?? 'input']
  const keep = (): void => {
    setClosing(false)
    leaving.reset?.()
  }
  const discard = (): void => {
    setClosing(false)
    if (isLeaving) leaving.proceed()
    else onClose()
  }
  return (
    <Modal.Stack>
      <Modal
        opened={opened}
        onClose={() => (guards === null ? onClose() : setClosing(true))}
        stackId="dialog"
        {...rest}
      >
        {children}
      </Modal>
      <Modal
        opened={opened && (isClosing || isLeaving)}
        onClose={keep}
        stackId="question"
        withCloseButton={false}
        title={question.title}
      >
        <Stack>
          <Text size="sm">{question.text}</Text>
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={keep}>
              {question.back}
            </Button>
            <Button color="red.8" onClick={discard}>
              {question.close}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Modal.Stack>
  )
}

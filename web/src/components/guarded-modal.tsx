import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import { useState } from 'react'

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

/** A dialog that asks before Escape, a click outside or the close button discards what `guards` names. */
export function GuardedModal({
  guards,
  opened,
  onClose,
  children,
  ...rest
}: ModalProps & { guards: keyof typeof questions | null }) {
  const [isAsking, setAsking] = useState(false)
  const question = questions[guards ?? 'input']
  return (
    <Modal.Stack>
      <Modal opened={opened} onClose={() => (guards === null ? onClose() : setAsking(true))} stackId="dialog" {...rest}>
        {children}
      </Modal>
      <Modal
        opened={opened && isAsking}
        onClose={() => setAsking(false)}
        stackId="question"
        withCloseButton={false}
        title={question.title}
      >
        <Stack>
          <Text size="sm">{question.text}</Text>
          <Group justify="flex-end">
            <Button variant="default" data-autofocus onClick={() => setAsking(false)}>
              {question.back}
            </Button>
            <Button
              color="red.8"
              onClick={() => {
                setAsking(false)
                onClose()
              }}
            >
              {question.close}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </Modal.Stack>
  )
}

import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorAlert } from './feedback.tsx'

/** Asks for confirmation before an action that cannot be undone, and states its consequences. */
export function Confirm({
  opened,
  title,
  children,
  verb,
  onConfirm,
  onClose,
}: {
  opened: boolean
  title: string
  children: ReactNode
  verb: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
}) {
  const action = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  const close = (): void => {
    action.reset()
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        {action.isError && <ErrorAlert error={action.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button color="red.8" loading={action.isPending} onClick={() => action.mutate()}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

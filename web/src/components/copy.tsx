import { ActionIcon, Alert, Box, Button, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useRef, useState } from 'react'
import { IconCheck, IconCopy, IconKey } from './icons.ts'

/** Copies the text. Browsers offer the clipboard to secure origins only; elsewhere the text is selected for Ctrl+C. */
async function copy(text: string, element: HTMLElement | null): Promise<boolean> {
  const clipboard = (navigator as { clipboard?: Clipboard }).clipboard
  try {
    if (clipboard !== undefined) {
      await clipboard.writeText(text)
      return true
    }
  } catch {
    // The text is selected below.
  }
  if (element !== null) window.getSelection()?.selectAllChildren(element)
  return false
}

export function CopyBlock({ text, label }: { text: string; label: string }) {
  const block = useRef<HTMLPreElement>(null)
  const [status, setStatus] = useState('')
  const onCopy = async (): Promise<void> => {
    setStatus((await copy(text, block.current)) ? 'Copied' : 'Selected: press Ctrl+C')
    setTimeout(() => setStatus(''), 2500)
  }
  return (
    <Box pos="relative">
      <pre className="code-block" ref={block} style={{ paddingRight: 46 }}>
        {text}
      </pre>
      <Tooltip label={status === '' ? `Copy ${label}` : status} {...(status === '' ? {} : { opened: true })}>
        <ActionIcon
          variant="subtle"
          color="gray"
          pos="absolute"
          top={7}
          right={7}
          aria-label={`Copy ${label}`}
          onClick={() => void onCopy()}
        >
          {status === '' ? <IconCopy size={16} /> : <IconCheck size={16} />}
        </ActionIcon>
      </Tooltip>
    </Box>
  )
}

/** Secrets that the server returns only once. */
export function OneTimeSecrets({
  values,
  onDone,
  children,
}: {
  values: readonly { label: string; value: string }[]
  onDone: () => void
  children?: React.ReactNode
}) {
  return (
    <Stack gap="md">
      <Alert variant="light" color="yellow" icon={<IconKey size={18} />} title="Shown only once">
        <Text size="sm">
          {values.length === 1
            ? 'Copy and store it now. It cannot be shown again.'
            : 'Copy and store them now. They cannot be shown again.'}
        </Text>
      </Alert>
      {values.map(({ label, value }) => (
        <Stack key={label} gap={4}>
          <Text size="sm" fw={550}>
            {label}
          </Text>
          <CopyBlock text={value} label={label} />
        </Stack>
      ))}
      {children}
      <Group justify="flex-end">
        <Button onClick={onDone}>I have saved it</Button>
      </Group>
    </Stack>
  )
}

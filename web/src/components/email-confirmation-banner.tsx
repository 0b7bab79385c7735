import { Alert, Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { requestEmailConfirmation } from '../api/auth.ts'
import { notify, notifyError } from './feedback.tsx'
import { IconAlertTriangle } from './icons.ts'
import { useUser } from './use-session.ts'

/** Shown until the user has confirmed the e-mail address. */
export function EmailConfirmationBanner() {
  const { email, email_confirmed: isConfirmed } = useUser()
  const again = useMutation({
    mutationFn: requestEmailConfirmation,
    onSuccess: () => notify(`We sent the link to ${email} again.`, 'Check your e-mail'),
    onError: notifyError,
  })
  if (isConfirmed) return null
  return (
    <Alert
      color="yellow"
      radius="lg"
      mb="md"
      icon={<IconAlertTriangle size={18} />}
      title="Confirm your e-mail address"
      role="status"
    >
      <Group justify="space-between" gap="sm">
        <Text size="sm">
          We sent a link to {email}. Until you open it, you cannot invite members or create API keys or webhooks.
        </Text>
        <Button size="xs" variant="default" loading={again.isPending} onClick={() => again.mutate()}>
          Send again
        </Button>
      </Group>
    </Alert>
  )
}

import { Alert, Anchor, Loader, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { confirmEmail } from '../../api/auth.ts'
import { AuthPage } from './auth-page.tsx'
import { takeTokenFromUrl } from './token.ts'

/** Opened from the link in the confirmation mail, signed in or not. */
export function ConfirmEmailPage() {
  const [token] = useState(takeTokenFromUrl)
  const confirmation = useQuery({
    queryKey: ['confirm-email', token],
    queryFn: () => confirmEmail(token).then(() => true),
    enabled: token !== '',
    retry: false,
    staleTime: Infinity,
  })
  return (
    <AuthPage title={confirmation.isSuccess ? 'E-mail address confirmed' : 'Confirm your e-mail address'}>
      {token === '' && (
        <Alert color="yellow" title="This link is incomplete">
          Open the link from the e-mail again, or sign in and request a new one.
        </Alert>
      )}
      {confirmation.isLoading && <Loader aria-label="Confirming" size="sm" />}
      {confirmation.isError && (
        <Alert color="yellow" title="This link is invalid or has expired">
          Sign in and request a new link.
        </Alert>
      )}
      {confirmation.isSuccess && <Text size="sm">Your e-mail address is confirmed.</Text>}
      <Anchor size="sm" renderRoot={(props) => <Link to="/" {...props} />}>
        Go to Lastseen
      </Anchor>
    </AuthPage>
  )
}

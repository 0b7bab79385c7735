import { Alert, Anchor, PasswordInput, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { confirmPasswordReset } from '../../api/auth.ts'
import { newPasswordRule } from '../../lib/forms.ts'
import { AuthForm } from './auth-form.tsx'
import { AuthPage } from './auth-page.tsx'
import { takeTokenFromUrl } from './token.ts'

export function ResetPasswordPage() {
  const [token] = useState(takeTokenFromUrl)
  const [isDone, setDone] = useState(false)
  const form = useForm({ initialValues: { new_password: '' }, validate: { new_password: newPasswordRule } })
  const signIn = (
    <Anchor size="sm" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
      Go to sign-in
    </Anchor>
  )
  if (isDone)
    return (
      <AuthPage title="Password changed">
        <Text size="sm">You are signed out everywhere. Sign in with the new password.</Text>
        {signIn}
      </AuthPage>
    )
  return (
    <AuthPage title="Set a new password">
      {token === '' && (
        <Alert color="yellow" title="This link is incomplete">
          Open the link from the e-mail again, or request a new one.
        </Alert>
      )}
      <AuthForm
        form={form}
        verb="Set password"
        onSubmit={(values) => confirmPasswordReset({ token, ...values })}
        onDone={() => setDone(true)}
      >
        <PasswordInput
          label="New password"
          description="At least 10 characters"
          autoComplete="new-password"
          autoFocus
          {...form.getInputProps('new_password')}
        />
      </AuthForm>
      {signIn}
    </AuthPage>
  )
}

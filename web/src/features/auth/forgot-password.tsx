import { Anchor, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { requestPasswordReset } from '../../api/auth.ts'
import { emailRule } from '../../lib/forms.ts'
import { AuthForm } from './auth-form.tsx'
import { AuthPage } from './auth-page.tsx'

export function ForgotPasswordPage() {
  const [isSent, setSent] = useState(false)
  const form = useForm({ initialValues: { email: '' }, validate: { email: emailRule } })
  const back = (
    <Anchor size="sm" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
      Back to sign-in
    </Anchor>
  )
  if (isSent)
    return (
      <AuthPage title="Check your e-mail">
        <Text size="sm">
          If an account for <b>{form.values.email}</b> exists, we sent a link to set a new password. The link is valid
          for one hour. No mail? Ask the operator of the server for the link.
        </Text>
        {back}
      </AuthPage>
    )
  return (
    <AuthPage title="Reset your password" lead="We send a link to set a new one.">
      <AuthForm
        form={form}
        verb="Send the link"
        onSubmit={({ email }) => requestPasswordReset(email)}
        onDone={() => setSent(true)}
      >
        <TextInput label="E-mail" type="email" autoComplete="username" autoFocus {...form.getInputProps('email')} />
      </AuthForm>
      {back}
    </AuthPage>
  )
}

import { Alert, Anchor, Group, PasswordInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { signIn } from '../../api/auth.ts'
import { sessionEndReason } from '../../api/session.ts'
import { IconInfoCircle } from '../../components/icons.ts'
import { emailRule, required } from '../../lib/forms.ts'
import { isSignupOpen } from '../../lib/signup.ts'
import { AuthForm } from './auth-form.tsx'
import { AuthPage } from './auth-page.tsx'

export function SignInPage() {
  const navigate = useNavigate()
  const { to } = useSearch({ from: '/sign-in' })
  const endReason = sessionEndReason()
  const form = useForm({
    initialValues: { email: '', password: '' },
    validate: { email: emailRule, password: required('The password') },
  })
  return (
    <AuthPage title="Sign in">
      {endReason !== null && (
        <Alert color="gray" role="status" aria-label="Session" icon={<IconInfoCircle size={18} />}>
          {endReason}. Sign in again to continue.
        </Alert>
      )}
      <AuthForm
        form={form}
        verb="Sign in"
        onSubmit={signIn}
        onDone={() => void navigate({ href: to?.startsWith('/') && !to.startsWith('//') ? to : '/' })}
      >
        <TextInput label="E-mail" type="email" autoComplete="username" autoFocus {...form.getInputProps('email')} />
        <PasswordInput label="Password" autoComplete="current-password" {...form.getInputProps('password')} />
      </AuthForm>
      <Group justify="space-between" gap="xs">
        <Anchor size="sm" renderRoot={(props) => <Link to="/forgot-password" {...props} />}>
          Forgot your password?
        </Anchor>
        {isSignupOpen && (
          <Anchor size="sm" renderRoot={(props) => <Link to="/sign-up" {...props} />}>
            Create an organization
          </Anchor>
        )}
      </Group>
    </AuthPage>
  )
}

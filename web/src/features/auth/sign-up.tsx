import { Anchor, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, useNavigate } from '@tanstack/react-router'
import { signUp } from '../../api/auth.ts'
import { emailRule, newPasswordRule, required } from '../../lib/forms.ts'
import { isSignupOpen } from '../../lib/signup.ts'
import { AuthForm } from './auth-form.tsx'
import { AuthPage } from './auth-page.tsx'

export const SignUpPage = () => (isSignupOpen ? <SignUpForm /> : <SignUpClosed />)

const SignInLink = () => (
  <Text size="sm">
    Have an account?{' '}
    <Anchor inherit underline="always" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
      Sign in
    </Anchor>
  </Text>
)

const SignUpClosed = () => (
  <AuthPage
    title="Create an organization"
    lead="Sign-up is closed on this server. Ask an admin of your organization for an invitation, or the operator of the server for an account."
  >
    <SignInLink />
  </AuthPage>
)

function SignUpForm() {
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { organization_name: '', email: '', password: '' },
    validate: { organization_name: required('A name'), email: emailRule, password: newPasswordRule },
  })
  return (
    <AuthPage
      title="Create an organization"
      lead="An organization contains your locations, assets and members. You become its first admin."
    >
      <AuthForm form={form} verb="Create organization" onSubmit={signUp} onDone={() => void navigate({ to: '/' })}>
        <TextInput
          label="Organization"
          autoComplete="organization"
          autoFocus
          {...form.getInputProps('organization_name')}
        />
        <TextInput label="E-mail" type="email" autoComplete="username" {...form.getInputProps('email')} />
        <PasswordInput
          label="Password"
          description="At least 10 characters"
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
      </AuthForm>
      <SignInLink />
    </AuthPage>
  )
}

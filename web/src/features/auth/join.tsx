import { Anchor, Code, PasswordInput, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { acceptInvitation, lookUpInvitation } from '../../api/auth.ts'
import { QueryView } from '../../components/query-view.tsx'
import { newPasswordRule, required } from '../../lib/forms.ts'
import { roleDescriptions, roleLabel } from '../../lib/roles.ts'
import { AuthForm } from './auth-form.tsx'
import { AuthPage } from './auth-page.tsx'
import { takeTokenFromUrl } from './token.ts'

type Offer = Awaited<ReturnType<typeof lookUpInvitation>>

const SignInLink = () => (
  <Anchor inherit underline="always" renderRoot={(props) => <Link to="/sign-in" {...props} />}>
    sign in
  </Anchor>
)

export function JoinPage() {
  const [token] = useState(takeTokenFromUrl)
  return token === '' ? <NoInvitation /> : <Invitation token={token} />
}

const NoInvitation = () => (
  <AuthPage title="Join an organization" lead="To join, open the whole link of your invitation.">
    <Text size="sm">
      The link is in the e-mail that invited you, or an admin of the organization sends it to you. It ends with{' '}
      <Code>#token=…</Code>; some programs cut that part off, so copy the link into the address bar.
    </Text>
    <Text size="sm">
      No invitation? Ask an admin of the organization for one. If you have joined already, <SignInLink />.
    </Text>
  </AuthPage>
)

function Invitation({ token }: { token: string }) {
  const offer = useQuery({ queryKey: ['invitation', token], queryFn: () => lookUpInvitation(token), retry: false })
  return (
    <AuthPage title="Join an organization">
      <QueryView query={offer} rows={3}>
        {(found) => <Accept token={token} offer={found} />}
      </QueryView>
      {offer.isError && (
        <Text size="sm">
          The link was used or withdrawn, or it is older than seven days. Ask for a new invitation, or <SignInLink />.
        </Text>
      )}
    </AuthPage>
  )
}

function Accept({ token, offer }: { token: string; offer: Offer }) {
  const navigate = useNavigate()
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: offer.has_account ? required('The password') : newPasswordRule },
  })
  return (
    <>
      <Text size="sm">
        You are invited to <b>{offer.organization_name}</b> as <b>{roleLabel(offer.role)}</b>.{' '}
        {roleDescriptions[offer.role]}
      </Text>
      <AuthForm
        form={form}
        verb={`Join ${offer.organization_name}`}
        onSubmit={({ password }) => acceptInvitation({ token, password })}
        onDone={() => void navigate({ to: '/' })}
      >
        <TextInput label="E-mail" value={offer.email} readOnly autoComplete="username" />
        <PasswordInput
          label={offer.has_account ? 'Your password' : 'Choose a password'}
          description={offer.has_account ? 'The password of your existing account' : 'At least 10 characters'}
          autoComplete={offer.has_account ? 'current-password' : 'new-password'}
          autoFocus
          {...form.getInputProps('password')}
        />
      </AuthForm>
    </>
  )
}

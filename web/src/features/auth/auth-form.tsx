import { Button, Stack } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorAlert } from '../../components/feedback.tsx'
import { showFieldErrors } from '../../lib/forms.ts'

/** A form that shows errors at their fields, and other errors above the button. */
export function AuthForm<T extends object>({
  form,
  verb,
  onSubmit,
  onDone,
  children,
}: {
  form: UseFormReturnType<T>
  verb: string
  onSubmit: (values: T) => Promise<unknown>
  onDone: () => void
  children: ReactNode
}) {
  const action = useMutation({
    mutationFn: onSubmit,
    onSuccess: onDone,
    onError: (error) => showFieldErrors(form, error),
  })
  const hasFormError = action.isError && Object.keys(form.errors).length === 0
  return (
    <form onSubmit={form.onSubmit((values) => action.mutate(values))} noValidate>
      <Stack gap="sm">
        {children}
        {hasFormError && <ErrorAlert error={action.error} />}
        <Button type="submit" loading={action.isPending} fullWidth mt={4}>
          {verb}
        </Button>
      </Stack>
    </form>
  )
}

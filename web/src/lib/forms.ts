import type { UseFormReturnType } from '@mantine/form'
import { ValidationError } from '../../../client/src/errors.ts'

/** Shows the server's field errors at their fields. Returns false when an error has no field in this form. */
export function showFieldErrors<T extends object>(form: UseFormReturnType<T>, error: unknown): boolean {
  if (!(error instanceof ValidationError) || error.fields.length === 0) return false
  const known = Object.keys(form.getValues())
  let allShown = true
  for (const problem of error.fields) {
    const name = problem.field.split(/[.[]/)[0] ?? ''
    if (known.includes(name)) form.setFieldError(name, toSentence(problem.message))
    else allShown = false
  }
  return allShown
}

/** `new_password must have …` → `New password must have …` */
export function toSentence(message: string): string {
  const [first = '', ...rest] = message.split(' ')
  const words = /^[a-z_]+$/.test(first) ? first.replaceAll('_', ' ') : first
  const text = [words, ...rest].join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const required =
  (what: string) =>
  (value: string): string | null =>
    value.trim() === '' ? `${what} is required` : null

export const emailRule = (value: string): string | null =>
  /^[^\s@]+@[^\s@]+$/.test(value) ? null : 'An e-mail address is required'

export const newPasswordRule = (value: string): string | null =>
  Array.from(value).length >= 10 ? null : 'At least 10 characters'

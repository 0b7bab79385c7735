import { apiError } from '../kernel/errors.ts'
import { commonPasswords } from './common-passwords.ts'

/** True if the characters ascend or descend in steps of one; 0 follows 9. */
function isSequence(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0)!)
  const isDigits = /^\d+$/.test(text)
  const steps = new Set(codes.slice(1).map((code, index) => code - codes[index]!))
  const normalize = (step: number): number => (isDigits ? (step + 10) % 10 : step)
  return [1, -1].some((direction) => [...steps].every((step) => normalize(step) === normalize(direction)))
}

/** Returns why the password is easy to guess, as the predicate of a sentence, or null if it is not. */
export function passwordWeakness(password: string, email: string): string | null {
  const folded = password.toLowerCase()
  if (commonPasswords.has(folded)) return 'is one of the most common passwords'
  if (new Set(folded).size <= 2) return 'repeats one or two characters'
  if (isSequence(folded)) return 'is a sequence of characters'
  if (folded === email || folded === email.split('@')[0]) return 'is the e-mail address'
  return null
}

/** Rejects a new password that is easy to guess. `email` is the case-folded address of the account. */
export function assertNotGuessable(field: string, password: string, email: string): void {
  const weakness = passwordWeakness(password, email)
  if (weakness !== null)
    throw apiError.invalid({ field, code: 'invalid_value', message: `${field} ${weakness}; choose another one` })
}

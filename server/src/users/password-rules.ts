import { apiError } from '../kernel/errors.ts'
import { commonPasswords } from './common-passwords.ts'

/** Each character follows the one before it, upwards or downwards; 0 follows 9. */
function isSequence(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0)!)
  const isDigits = /^\d+$/.test(text)
  const steps = new Set(codes.slice(1).map((code, index) => code - codes[index]!))
  const step = (from: number): number => (isDigits ? (from + 10) % 10 : from)
  return [1, -1].some((wanted) => [...steps].every((one) => step(one) === step(wanted)))
}

/** Why anybody would try this password first, as the rest of a sentence; null when it is none of those. */
export function passwordWeakness(password: string, email: string): string | null {
  const folded = password.toLowerCase()
  if (commonPasswords.has(folded)) return 'is one of the most common passwords'
  if (new Set(folded).size <= 2) return 'repeats one or two characters'
  if (isSequence(folded)) return 'is a sequence of characters'
  if (folded === email || folded === email.split('@')[0]) return 'is the e-mail address'
  return null
}

/** Refuses a new password that anybody would try first. `email` is the folded address of the account. */
export function assertNotGuessable(field: string, password: string, email: string): void {
  const why = passwordWeakness(password, email)
  if (why !== null)
    throw apiError.invalid({ field, code: 'invalid_value', message: `${field} ${why}; choose another one` })
}

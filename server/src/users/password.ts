import { hash, verify } from '@node-rs/argon2'

/** Hashing takes a thread and 19 MiB each: more than two at once would starve everything else that needs a thread. */
const atOnce = 2
let running = 0
const waiting: (() => void)[] = []

async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= atOnce) await new Promise<void>((resume) => waiting.push(resume))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password))

/** Takes as long for an account that is not there, so that timing does not tell which addresses have one. */
export async function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  if (storedHash === null) {
    await hashPassword(password)
    return false
  }
  return inTurn(() => verify(storedHash, password))
}

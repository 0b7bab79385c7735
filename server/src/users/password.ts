import { hash, verify } from '@node-rs/argon2'

/** Each hash takes a thread and 19 MiB. More than two at a time would starve other work that needs the thread pool. */
const concurrency = 2
let running = 0
const waiting: (() => void)[] = []

async function limitConcurrency<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= concurrency) await new Promise<void>((resume) => waiting.push(resume))
  else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

export const hashPassword = (password: string): Promise<string> => limitConcurrency(() => hash(password))

/** Takes as long for an address without an account, so that the timing does not reveal which addresses have one. */
export async function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  if (storedHash === null) {
    await hashPassword(password)
    return false
  }
  return limitConcurrency(() => verify(storedHash, password))
}

import { hash, verify } from '@node-rs/argon2'

/** Each hash takes a thread and 19 MiB. The server limits the requests that hash at the same time. */
export const hashPassword = (password: string): Promise<string> => hash(password)

/** Takes as long for an address without an account, so that the timing does not reveal which addresses have one. */
export async function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  if (storedHash === null) {
    await hashPassword(password)
    return false
  }
  return verify(storedHash, password)
}

import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Random bytes are generated in batches, because a call costs about the same for one byte as for 4096. */
const pool = Buffer.alloc(4096)
let usedBytes = pool.length

let lastMillis = -1
let lastTime = ''

function timePart(millis: number): string {
  let text = ''
  for (let remaining = millis, digits = 0; digits < 10; digits++, remaining = Math.floor(remaining / 32))
    text = alphabet.charAt(remaining % 32) + text
  return text
}

/** A ULID: 48 bits of time and 80 random bits in Crockford's base 32. */
export function ulid(millis: number): string {
  if (millis !== lastMillis) {
    lastMillis = millis
    lastTime = timePart(millis)
  }
  if (usedBytes + 16 > pool.length) {
    randomFillSync(pool)
    usedBytes = 0
  }
  let text = lastTime
  for (const end = usedBytes + 16; usedBytes < end; usedBytes++) text += alphabet.charAt(pool[usedBytes]! & 31)
  return text
}

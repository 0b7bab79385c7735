import { randomFillSync } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Random bytes are drawn many at a time: a draw costs the same for one byte as for four thousand. */
const pool = Buffer.alloc(4096)
let drawn = pool.length

let lastMillis = -1
let lastTime = ''

function timePart(millis: number): string {
  let text = ''
  for (let rest = millis, digits = 0; digits < 10; digits++, rest = Math.floor(rest / 32))
    text = alphabet.charAt(rest % 32) + text
  return text
}

/** A ULID: 48 bits of time and 80 random bits in Crockford's base 32. */
export function ulid(millis: number): string {
  if (millis !== lastMillis) {
    lastMillis = millis
    lastTime = timePart(millis)
  }
  if (drawn + 16 > pool.length) {
    randomFillSync(pool)
    drawn = 0
  }
  let text = lastTime
  for (const end = drawn + 16; drawn < end; drawn++) text += alphabet.charAt(pool[drawn]! & 31)
  return text
}

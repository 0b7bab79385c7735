import { createCipheriv } from 'node:crypto'

export const maxId = Number.MAX_SAFE_INTEGER

const halfBits = 27
const half = 2 ** halfBits
const rounds = 6

/** Compares the halves, because a double cannot represent every 54-bit number. */
const isOutOfRange = (left: number, right: number): boolean => left >= half / 2 || (left === 0 && right === 0)

/**
 * A keyed permutation of 1..2^53-1: distinct numbers give distinct ids, and without the key an id reveals nothing about
 * other ids. It is a Feistel network over 54 bits with AES as its round function, applied until the result is in range
 * (cycle walking).
 */
export class IdCipher {
  readonly #aes: ReturnType<typeof createCipheriv>
  readonly #block = Buffer.alloc(16)

  constructor(key: Uint8Array) {
    this.#aes = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  }

  encrypt(ordinal: number): number {
    let left = Math.floor(ordinal / half)
    let right = ordinal % half
    do {
      for (let round = 0; round < rounds; round++) {
        const mixed = (left ^ this.#mix(round, right)) >>> 0
        left = right
        right = mixed
      }
    } while (isOutOfRange(left, right))
    return left * half + right
  }

  decrypt(id: number): number {
    let left = Math.floor(id / half)
    let right = id % half
    do {
      for (let round = rounds - 1; round >= 0; round--) {
        const mixed = (right ^ this.#mix(round, left)) >>> 0
        right = left
        left = mixed
      }
    } while (isOutOfRange(left, right))
    return left * half + right
  }

  #mix(round: number, input: number): number {
    this.#block.writeUInt32BE(round, 0)
    this.#block.writeUInt32BE(input, 4)
    return this.#aes.update(this.#block).readUInt32BE(0) & (half - 1)
  }
}

import { createCipheriv } from 'node:crypto'

export const maxId = Number.MAX_SAFE_INTEGER

const halfBits = 27
const half = 2 ** halfBits
const rounds = 6

/**
 * A keyed permutation of 1..2^53-1: distinct numbers give distinct ids, and without the key no id tells anything
 * about another. A Feistel network over 54 bits with AES as its round function, walked until it lands in range.
 */
export class IdCipher {
  readonly #aes: ReturnType<typeof createCipheriv>
  readonly #block = Buffer.alloc(16)

  constructor(key: Uint8Array) {
    this.#aes = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
  }

  conceal(ordinal: number): number {
    let value = ordinal
    do {
      let left = Math.floor(value / half)
      let right = value % half
      for (let round = 0; round < rounds; round++) {
        const mixed = (left ^ this.#mix(round, right)) >>> 0
        left = right
        right = mixed
      }
      value = left * half + right
    } while (value < 1 || value > maxId)
    return value
  }

  reveal(id: number): number {
    let value = id
    do {
      let left = Math.floor(value / half)
      let right = value % half
      for (let round = rounds - 1; round >= 0; round--) {
        const mixed = (right ^ this.#mix(round, left)) >>> 0
        right = left
        left = mixed
      }
      value = left * half + right
    } while (value < 1 || value > maxId)
    return value
  }

  #mix(round: number, input: number): number {
    this.#block.writeUInt32BE(round, 0)
    this.#block.writeUInt32BE(input, 4)
    return this.#aes.update(this.#block).readUInt32BE(0) & (half - 1)
  }
}

import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { PacketSizeGuard, maxPacketBytes } from '../../src/ingest/mqtt-packet-guard.ts'

const packet = (bytes: number): Buffer =>
  generate({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(bytes), qos: 0, dup: false, retain: false })

describe('a stream of MQTT packets', () => {
  it('is accepted while every packet is small enough, however it is split into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 1, 123, 124, 125, 16_380, 16_383, 70_000), { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1 }),
        (sizes, cuts) => {
          const stream = Buffer.concat(sizes.map(packet))
          const follows = new PacketSizeGuard()
          for (let at = 0, turn = 0; at < stream.length; turn++) {
            const next = at + cuts[turn % cuts.length]!
            expect(follows.isTooLarge(stream.subarray(at, next))).toBe(false)
            at = next
          }
          expect(follows.isTooLarge(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]))).toBe(true)
        },
      ),
    )
  })

  it('is rejected at a header that announces more than the limit', () => {
    const header = (length: number) => packet(length - 3).subarray(0, 5)
    expect(new PacketSizeGuard().isTooLarge(header(maxPacketBytes))).toBe(false)
    expect(new PacketSizeGuard().isTooLarge(header(maxPacketBytes + 1))).toBe(true)
  })

  it('may have a smaller limit for its first packet, which later packets do not have', () => {
    const sizes = new PacketSizeGuard(1000)
    expect(sizes.isTooLarge(packet(500))).toBe(false)
    expect(sizes.isTooLarge(packet(5000))).toBe(false)
    expect(new PacketSizeGuard(1000).isTooLarge(packet(5000).subarray(0, 5))).toBe(true)
  })

  it('reports the size of an incomplete packet', () => {
    const bytes = packet(5000)
    for (const [end, expected] of [
      [2, 0],
      [3, 5003],
      [bytes.length - 1, 5003],
      [bytes.length, 0],
    ] as const) {
      const follows = new PacketSizeGuard()
      follows.isTooLarge(bytes.subarray(0, end))
      expect([end, follows.unfinishedBytes]).toEqual([end, expected])
    }
  })
})

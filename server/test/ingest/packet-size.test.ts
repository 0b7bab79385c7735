import fc from 'fast-check'
import { generate } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { PacketSizes, maxPacketBytes } from '../../src/ingest/packet-size.ts'

const packet = (bytes: number): Buffer =>
  generate({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(bytes), qos: 0, dup: false, retain: false })

describe('a stream of MQTT packets', () => {
  it('passes while every packet is small enough, however it is cut into pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 1, 123, 124, 125, 16_380, 16_383, 70_000), { minLength: 1, maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1 }),
        (sizes, cuts) => {
          const stream = Buffer.concat(sizes.map(packet))
          const follows = new PacketSizes()
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

  it('ends with the header that announces more than there may be', () => {
    const header = (length: number) => packet(length - 3).subarray(0, 5)
    expect(new PacketSizes().isTooLarge(header(maxPacketBytes))).toBe(false)
    expect(new PacketSizes().isTooLarge(header(maxPacketBytes + 1))).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/instant.ts'
import { type TagRead, earliestPerMinute } from '../../src/tracking/recording/tag-read.ts'

const read = (value: string, clock: string, { readerId = 1, antenna = 1 } = {}): TagRead => ({
  identities: [{ type: 'rfid', value }],
  readerId,
  antenna,
  rssiDbm: null,
  observedAt: `2026-05-04T${clock}.000000Z` as Instant,
})

describe('the reads that can set a minute', () => {
  it('are the earliest of each tag, reader and minute, from any antenna', () => {
    const [late, first, next] = [read('A1', '10:00:30'), read('a1', '10:00:05', { antenna: 2 }), read('A1', '10:01:00')]
    expect(earliestPerMinute([late, first, next, read('A1', '10:01:20')])).toEqual([first, next])
  })

  it('stay in their order, and the first one of an instant stays', () => {
    const [one, two] = [read('A1', '10:00:05', { antenna: 2 }), read('B2', '10:00:05')]
    expect(earliestPerMinute([one, read('A1', '10:00:05'), two])).toEqual([one, two])
    const [later, earlier] = [read('B2', '10:00:09'), read('A1', '10:00:08')]
    expect(earliestPerMinute([read('A1', '10:00:10'), later, earlier])).toEqual([later, earlier])
  })

  it('include those of every reader, because one of the readers may be deleted meanwhile', () => {
    const reads = [read('A1', '10:00:05'), read('A1', '10:00:06', { readerId: 2 })]
    expect(earliestPerMinute(reads)).toEqual(reads)
  })
})

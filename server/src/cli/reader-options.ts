import { InvalidArgumentError } from 'commander'
import { type Smoothing, maxOverlapSeconds, smoothingBounds } from '../readers/reader.ts'

/** An antenna and the key of its location; null for an antenna without a location. */
export interface Antenna {
  antenna: number
  key: string | null
}

/** `1=DOCK-3` is antenna 1 at the location with that key; `2=` is antenna 2 without a location. */
export function collectAntennas(text: string, previous: readonly Antenna[] = []): Antenna[] {
  const match = /^([1-9]\d{0,4})=(.*)$/s.exec(text)
  if (match === null || Number(match[1]) > 65_535)
    throw new InvalidArgumentError('It must be NUMBER=LOCATION-KEY or NUMBER=, with a number from 1 to 65535.')
  const antenna = Number(match[1])
  if (previous.some((one) => one.antenna === antenna)) throw new InvalidArgumentError('The antenna was given twice.')
  return [...previous, { antenna, key: match[2] === '' ? null : match[2]! }]
}

const smoothingKeys = { reads: 'reads', seconds: 'seconds', margin_db: 'marginDb' } as const

/** Parses `reads=3,seconds=30,margin_db=6`; `margin_db` is optional. */
export function parseSmoothing(text: string): Smoothing {
  const problem = new InvalidArgumentError(
    'It must be reads=N,seconds=N[,margin_db=N] with reads 2 to 20, seconds 1 to 3600 and margin_db 1 to 60.',
  )
  const smoothing: Partial<Smoothing> = {}
  for (const part of text.split(',')) {
    const [, name, digits] = /^(reads|seconds|margin_db)=(\d{1,4})$/.exec(part) ?? []
    if (name === undefined) throw problem
    const key = smoothingKeys[name as keyof typeof smoothingKeys]
    const [min, max] = smoothingBounds[key]
    if (smoothing[key] !== undefined || Number(digits) < min || Number(digits) > max) throw problem
    smoothing[key] = Number(digits)
  }
  const { reads, seconds, marginDb = null } = smoothing
  if (reads === undefined || seconds === undefined) throw problem
  return { reads, seconds, marginDb }
}

export const parseSmoothingOrOff = (text: string): Smoothing | 'off' => (text === 'off' ? text : parseSmoothing(text))

const unitSeconds = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Parses `24h`, `30m`, `90s` or `7d` to seconds. */
export function parseOverlap(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const seconds = Number(digits) * unitSeconds[unit as keyof typeof unitSeconds]
  if (unit === undefined || seconds > maxOverlapSeconds)
    throw new InvalidArgumentError('It must be a number with s, m, h or d, such as 24h, and at most 7d.')
  return seconds
}

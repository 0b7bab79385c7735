const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const hour = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })

const second = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const formatBy = (options: Intl.DateTimeFormatOptions): ((at: number) => string) => {
  const format = new Intl.DateTimeFormat(undefined, options)
  return (at) => format.format(at)
}

/** The labels of calendars. */
export const weekday = formatBy({ weekday: 'short' })
export const month = formatBy({ month: 'short' })
export const monthOfYear = formatBy({ month: 'long', year: 'numeric' })
export const dayAndMonth = formatBy({ day: 'numeric', month: 'short' })
export const longDate = formatBy({ dateStyle: 'long' })

const { locale, hour12 = false } = hour.resolvedOptions()

export const hasTwelveHourClock = hour12

/** 0 is Sunday. Browsers that do not know the week of the locale begin it on Monday. */
export const firstDayOfWeek = ((): number => {
  const info = new Intl.Locale(locale) as { getWeekInfo?: () => { firstDay: number }; weekInfo?: { firstDay: number } }
  return ((info.getWeekInfo?.() ?? info.weekInfo)?.firstDay ?? 1) % 7
})()

export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

export function ago(at: string | number, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  if (Math.abs(seconds) < 45) return 'just now'
  const [unit, size] = units.find(([, one]) => Math.abs(seconds) >= one) ?? ['minute', 60]
  return relative.format(Math.round(seconds / size), unit)
}

/** Date and time in the user's time zone. */
export const exactDateTime = (at: string | number): string => absolute.format(new Date(at))
export const dateTime = (at: string | number): string => short.format(new Date(at))
export const date = (at: string | number): string => day.format(new Date(at))
export const clockTime = (at: string | number): string => hour.format(new Date(at))

/** The time with seconds; with the date when it is more than twelve hours away. */
export const timeWithSeconds = (at: string): string =>
  Math.abs(Date.now() - Date.parse(at)) < 43_200_000 ? second.format(new Date(at)) : exactDateTime(at)

const isSameDay = (a: number, b: number): boolean => new Date(a).toDateString() === new Date(b).toDateString()

/** "01:36", "01:36–03:35" or "17 Nov 2026, 01:36 – 18 Nov 2026, 03:35": without the date of today, and a date once. */
export function timeRange(from: number, to = from): string {
  const begin = isSameDay(from, Date.now()) ? clockTime(from) : dateTime(from)
  if (from === to) return begin
  return isSameDay(from, to) ? `${begin}–${clockTime(to)}` : `${begin} – ${dateTime(to)}`
}

/** 95 → "1 min", 7300 → "2 h 1 min", 200000 → "2 d 7 h". */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
}

const numbers = new Intl.NumberFormat()
export const formatNumber = (value: number): string => numbers.format(value)

/** "1 read", "1,200 reads". */
export const counted = (count: number, noun: string): string =>
  `${formatNumber(count)} ${count === 1 ? noun : `${noun}s`}`

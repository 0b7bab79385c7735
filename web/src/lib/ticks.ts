/** Round numbers from 0 to at least `max`, in at most `maxSteps` steps of 1, 2 or 5 times a power of ten. */
export function countTicks(max: number, maxSteps = 4): number[] {
  const rough = Math.max(1, max) / maxSteps
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!,
  )
  return Array.from({ length: Math.max(1, Math.ceil(max / step)) + 1 }, (_, index) => index * step)
}

const minuteMs = 60_000
/** Steps of a time axis, in minutes. */
const steps = [1, 5, 15, 30, 60, 120, 180, 360, 720] as const
const dayMinutes = 1440
const daySteps = [1, 2, 7, 14, 28] as const

const startOfDay = (at: number): Date => {
  const date = new Date(at)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate())
}

/** The round local times between two instants, every so many minutes of each day. */
function timesOfDay(from: number, to: number, minutes: number): number[] {
  const times: number[] = []
  for (let day = startOfDay(from); day.getTime() <= to; day.setDate(day.getDate() + 1))
    for (let minute = 0; minute < dayMinutes; minute += minutes) {
      const at = new Date(day.getFullYear(), day.getMonth(), day.getDate(), 0, minute).getTime()
      if (at >= from && at <= to && at !== times.at(-1)) times.push(at)
    }
  return times
}

/** The local midnights between two instants, every so many days. */
function midnights(from: number, to: number, days: number): number[] {
  const times: number[] = []
  const day = startOfDay(from)
  if (day.getTime() < from) day.setDate(day.getDate() + 1)
  for (; day.getTime() <= to; day.setDate(day.getDate() + days)) times.push(day.getTime())
  return times
}

/** Round local times between two instants, at most `maxCount` of them, and whether they are whole days. */
export function timeTicks(from: number, to: number, maxCount: number): { times: number[]; areDays: boolean } {
  const limit = Math.max(1, maxCount)
  for (const minutes of steps) {
    if ((to - from) / (minutes * minuteMs) > limit + 1) continue
    const times = timesOfDay(from, to, minutes)
    if (times.length <= limit) return { times, areDays: false }
  }
  for (const days of daySteps) {
    const times = midnights(from, to, days)
    if (times.length <= limit || days === 28) return { times: times.slice(0, limit), areDays: true }
  }
  return { times: [], areDays: true }
}

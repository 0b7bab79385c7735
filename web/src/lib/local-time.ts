const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** A timestamp as the date picker expects it, in the user's time zone: `2026-05-04 08:15:00`. */
export function toPickerValue(at: string | null): string | null {
  if (at === null) return null
  const date = new Date(at)
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`
}

export const fromPickerValue = (text: string | null): string | null =>
  text === null || text === '' ? null : new Date(text.replace(' ', 'T')).toISOString()

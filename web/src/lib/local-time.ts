const two = (value: number): string => String(value).padStart(2, '0')

/** An instant as a date field wants it, in the viewer's zone: `2026-05-04 08:15:00`. */
export function toPickerValue(at: string | null): string | null {
  if (at === null) return null
  const date = new Date(at)
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

export const fromPickerValue = (text: string | null): string | null =>
  text === null || text === '' ? null : new Date(text.replace(' ', 'T')).toISOString()

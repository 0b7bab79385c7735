import '@mantine/dates/styles.css'
import { DateTimePicker as MantineDateTimePicker, type DateTimePickerProps, type DayOfWeek } from '@mantine/dates'
import {
  dateTime,
  exactDateTime,
  firstDayOfWeek,
  hasTwelveHourClock,
  longDate,
  month,
  monthOfYear,
  weekday,
} from '../lib/time.ts'

/** The picker's values are local: `2026-05-04` or `2026-05-04 08:15:00`. */
const toMillis = (text: string): number =>
  new Date(text.length === 10 ? `${text}T00:00` : text.replace(' ', 'T')).getTime()

const by = (format: (at: number) => string) => (text: string) => format(toMillis(text))

/** Picks a date and a time, which it shows in the browser's locale, as tables do. */
export function DateTimePicker(props: Omit<DateTimePickerProps, 'ref'>) {
  return (
    <MantineDateTimePicker
      valueFormat={by(props.withSeconds === true ? exactDateTime : dateTime)}
      firstDayOfWeek={firstDayOfWeek as DayOfWeek}
      weekdayFormat={by(weekday)}
      monthLabelFormat={by(monthOfYear)}
      monthsListFormat={by(month)}
      getDayAriaLabel={by(longDate)}
      timePickerProps={{ format: hasTwelveHourClock ? '12h' : '24h' }}
      {...props}
    />
  )
}

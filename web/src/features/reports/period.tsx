import { Group, SegmentedControl } from '@mantine/core'
import { useMemo } from 'react'
import { DateTimePicker } from '../../components/date-time-picker.tsx'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'
import { useReportSearch } from './use-report-search.ts'

export interface Period {
  from: string
  to: string
}

const dayMs = 86_400_000
const minuteMs = 60_000

/** Rounded to whole minutes, so that repeated views share one cached query. */
const lastDays = (days: number): Period => {
  const to = Math.floor(Date.now() / minuteMs) * minuteMs
  return { from: new Date(to - days * dayMs).toISOString(), to: new Date(to).toISOString() }
}

/** The period of the reports, which the URL holds. Without one it is the last seven days. */
export function usePeriod() {
  const [{ days = 7, from, to }, change] = useReportSearch()
  const isCustom = from !== undefined && to !== undefined
  const period = useMemo((): Period => (isCustom ? { from, to } : lastDays(days)), [isCustom, from, to, days])
  const set = (name: keyof Period) => (text: string | null) => {
    const at = fromPickerValue(text)
    if (at !== null) change({ ...period, [name]: at })
  }
  const control = (
    <Group gap="xs" mb="sm" align="flex-end">
      <SegmentedControl
        aria-label="Period"
        size="sm"
        value={isCustom ? 'custom' : String(days)}
        onChange={(value) =>
          change(
            value === 'custom'
              ? { days: undefined, ...period }
              : { days: value === '7' ? undefined : Number(value), from: undefined, to: undefined },
          )
        }
        data={[
          { value: '1', label: '24 hours' },
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: 'custom', label: 'Custom' },
        ]}
      />
      {isCustom && (
        <>
          <DateTimePicker label="From" size="sm" w={200} value={toPickerValue(period.from)} onChange={set('from')} />
          <DateTimePicker label="To" size="sm" w={200} value={toPickerValue(period.to)} onChange={set('to')} />
        </>
      )}
    </Group>
  )
  return { period, control }
}

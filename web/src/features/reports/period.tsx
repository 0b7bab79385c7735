import '@mantine/dates/styles.css'
import { Group, SegmentedControl } from '@mantine/core'
import { DateTimePicker } from '@mantine/dates'
import { useMemo, useState } from 'react'
import { fromPickerValue, toPickerValue } from '../../lib/local-time.ts'

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

export function usePeriod(days: number) {
  const [choice, setChoice] = useState(String(days))
  const [custom, setCustom] = useState<Period>(() => lastDays(days))
  const period = useMemo(() => (choice === 'custom' ? custom : lastDays(Number(choice))), [choice, custom])
  const set = (name: keyof Period) => (text: string | null) => {
    const at = fromPickerValue(text)
    if (at !== null) setCustom({ ...custom, [name]: at })
  }
  const control = (
    <Group gap="xs" mb="sm" align="flex-end">
      <SegmentedControl
        aria-label="Period"
        size="xs"
        value={choice}
        onChange={(value) => {
          setCustom(period)
          setChoice(value)
        }}
        data={[
          { value: '1', label: '24 hours' },
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: 'custom', label: 'Custom' },
        ]}
      />
      {choice === 'custom' && (
        <>
          <DateTimePicker
            aria-label="From"
            size="xs"
            w={190}
            value={toPickerValue(custom.from)}
            onChange={set('from')}
          />
          <DateTimePicker aria-label="To" size="xs" w={190} value={toPickerValue(custom.to)} onChange={set('to')} />
        </>
      )}
    </Group>
  )
  return { period, control }
}

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

/** Whole minutes, so that looking twice asks once. */
const past = (days: number): Period => {
  const to = Math.floor(Date.now() / minuteMs) * minuteMs
  return { from: new Date(to - days * dayMs).toISOString(), to: new Date(to).toISOString() }
}

export function usePeriod(days: number) {
  const [choice, setChoice] = useState(String(days))
  const [own, setOwn] = useState<Period>(() => past(days))
  const period = useMemo(() => (choice === 'own' ? own : past(Number(choice))), [choice, own])
  const set = (name: keyof Period) => (text: string | null) => {
    const at = fromPickerValue(text)
    if (at !== null) setOwn({ ...own, [name]: at })
  }
  const control = (
    <Group gap="xs" mb="sm" align="flex-end">
      <SegmentedControl
        aria-label="Period"
        size="xs"
        value={choice}
        onChange={(value) => {
          setOwn(period)
          setChoice(value)
        }}
        data={[
          { value: '1', label: '24 hours' },
          { value: '7', label: '7 days' },
          { value: '30', label: '30 days' },
          { value: 'own', label: 'Other' },
        ]}
      />
      {choice === 'own' && (
        <>
          <DateTimePicker aria-label="From" size="xs" w={190} value={toPickerValue(own.from)} onChange={set('from')} />
          <DateTimePicker aria-label="To" size="xs" w={190} value={toPickerValue(own.to)} onChange={set('to')} />
        </>
      )}
    </Group>
  )
  return { period, control }
}

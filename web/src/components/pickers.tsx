import { Loader, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listAssets, oneAsset } from '../api/assets.ts'
import { listLocations, oneLocation } from '../api/locations.ts'

type PickerProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  value: number | null
  onChange: (id: number | null, name: string | null) => void
}

interface NamedRecord {
  id: number
  name: string
  external_key: string
}

const option = (one: NamedRecord) => ({ value: String(one.id), label: `${one.name} (${one.external_key})` })

/** A select whose options come from a search on the server. */
function Picker({
  found,
  chosen,
  isFetching,
  onSearch,
  value,
  onChange,
  ...rest
}: PickerProps & {
  found: readonly NamedRecord[]
  chosen: NamedRecord | undefined
  isFetching: boolean
  onSearch: (text: string) => void
}) {
  const all = chosen === undefined || found.some((one) => one.id === chosen.id) ? found : [chosen, ...found]
  return (
    <Select
      searchable
      clearable
      nothingFoundMessage={isFetching ? 'Searching …' : 'Nothing found'}
      rightSection={isFetching ? <Loader size={14} /> : undefined}
      data={all.map(option)}
      filter={({ options }) => options}
      value={value === null ? null : String(value)}
      onSearchChange={onSearch}
      onChange={(picked) => {
        const one = all.find((candidate) => String(candidate.id) === picked)
        onChange(one?.id ?? null, one?.name ?? null)
      }}
      {...rest}
    />
  )
}

/** The text to search for: empty when the input only shows the label of the current choice. */
const searchText = (typed: string, chosen: NamedRecord | undefined): string =>
  chosen !== undefined && typed === option(chosen).label ? '' : typed.trim()

export function LocationPicker(props: PickerProps) {
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed, 200)
  const chosen = useQuery({ ...oneLocation(props.value ?? 0), enabled: props.value !== null })
  const found = useQuery(listLocations({ q: searchText(text, chosen.data), limit: 20, offset: 0 }))
  return (
    <Picker
      {...props}
      found={found.data?.data ?? []}
      chosen={props.value === null ? undefined : chosen.data}
      isFetching={found.isFetching}
      onSearch={setTyped}
    />
  )
}

export function AssetPicker(props: PickerProps) {
  const [typed, setTyped] = useState('')
  const [text] = useDebouncedValue(typed, 200)
  const chosen = useQuery({ ...oneAsset(props.value ?? 0), enabled: props.value !== null })
  const found = useQuery(listAssets({ q: searchText(text, chosen.data), limit: 20, offset: 0 }))
  return (
    <Picker
      {...props}
      found={found.data?.data ?? []}
      chosen={props.value === null ? undefined : chosen.data}
      isFetching={found.isFetching}
      onSearch={setTyped}
    />
  )
}

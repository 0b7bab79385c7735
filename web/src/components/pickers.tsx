import { Loader, Select, type SelectProps, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { listAssets, oneAsset } from '../api/assets.ts'
import { listLocations, oneLocation } from '../api/locations.ts'
import { useLocationPath } from '../api/overview.ts'
import { formatNumber } from '../lib/time.ts'

type PickerProps = Omit<SelectProps, 'data' | 'value' | 'onChange'> & {
  value: number | null
  onChange: (id: number | null, name: string | null) => void
  /** An option that chooses no record. */
  noneLabel?: string
}

/** The parent of a location without one. */
export const topLevel = 'None (top level)'

const none = 'none'
/** The value of the last entry, which says that there are more options, or that the search failed. */
const more = 'more'
/** The number of options. */
const size = 20

interface NamedRecord {
  id: number
  name: string
  external_key: string
}

const option = (one: NamedRecord) => ({ value: String(one.id), label: `${one.name} (${one.external_key})` })

const isExactMatch = (one: NamedRecord, text: string): boolean =>
  [one.name, one.external_key].some((value) => value.toLowerCase() === text.toLowerCase())

/** A select whose options come from a search on the server. Enter picks the match, also while the search is running. */
function Picker({
  found,
  total = 0,
  chosen,
  text,
  pathOf,
  noneLabel,
  onRetry,
  onSearch,
  value,
  onChange,
  ...rest
}: PickerProps & {
  /** The matches of the text; undefined while they are loaded. */
  found: readonly NamedRecord[] | undefined
  /** The number of all matches. */
  total: number | undefined
  chosen: NamedRecord | undefined
  /** The text to search for; empty while the input shows the current choice. */
  text: string
  /** A text below each option that says where the record belongs. */
  pathOf?: (id: number) => string
  /** Null unless the search has failed. */
  onRetry: (() => void) | null
  onSearch: (typed: string) => void
}) {
  const [isOpen, setOpen] = useState(false)
  const [isEnterPending, setEnterPending] = useState(false)
  // The arrow keys have highlighted an option, which the select picks on Enter.
  const isHighlighted = useRef(false)
  const matches = found ?? []
  const isChosenListed = chosen === undefined || matches.some((one) => one.id === chosen.id)
  // While the user searches, the current choice is listed only if it matches.
  const all = text !== '' || isChosenListed ? matches : [chosen, ...matches]
  const noneOption =
    noneLabel !== undefined && noneLabel.toLowerCase().startsWith(text.toLowerCase())
      ? [{ value: none, label: noneLabel }]
      : []
  const note =
    onRetry !== null
      ? 'The search failed. Change the text or open the list again.'
      : found !== undefined && total > found.length
        ? `First ${formatNumber(found.length)} of ${formatNumber(total)}: type to find the others`
        : null
  const moreOption = note === null ? [] : [{ value: more, label: note, disabled: true }]
  useEffect(() => {
    if (!isEnterPending || found === undefined) return
    setEnterPending(false)
    const match = found.find((one) => isExactMatch(one, text)) ?? found[0]
    if (match === undefined) return
    setOpen(false)
    onChange(match.id, match.name)
  }, [isEnterPending, found, text, onChange])
  return (
    <Select
      searchable
      clearable
      allowDeselect={false}
      nothingFoundMessage={found === undefined ? 'Searching …' : 'No results'}
      rightSection={
        found === undefined && onRetry === null ? <Loader size={rest.size === 'md' ? 20 : 18} /> : undefined
      }
      data={[...noneOption, ...all.map(option), ...moreOption]}
      filter={({ options }) => options}
      renderOption={({ option: { value: id, label } }) => (
        <div>
          {label}
          {pathOf !== undefined && id !== none && id !== more && (
            <Text size="xs" c="dimmed">
              {pathOf(Number(id))}
            </Text>
          )}
        </div>
      )}
      value={value === null ? null : String(value)}
      dropdownOpened={isOpen}
      onDropdownOpen={() => {
        setOpen(true)
        onRetry?.()
      }}
      onDropdownClose={() => setOpen(false)}
      onSearchChange={(typed) => {
        isHighlighted.current = false
        setEnterPending(false)
        onSearch(typed)
      }}
      onKeyDown={(event) => {
        if (event.key.startsWith('Arrow') && all.length > 0) isHighlighted.current = true
        if (event.key !== 'Enter' || text === '' || isHighlighted.current) return
        event.preventDefault()
        setEnterPending(true)
      }}
      onChange={(picked) => {
        const one = all.find((candidate) => String(candidate.id) === picked)
        onChange(one?.id ?? null, one?.name ?? null)
      }}
      {...rest}
    />
  )
}

/** The text to search for: empty when the input only shows the label of the current choice. */
const searchText = (typed: string, chosen: NamedRecord | undefined, noneLabel?: string): string =>
  typed === noneLabel || (chosen !== undefined && typed === option(chosen).label) ? '' : typed.trim()

export function LocationPicker(props: PickerProps) {
  const [typed, setTyped] = useState('')
  const [debounced] = useDebouncedValue(typed, 200)
  const { data: chosen } = useQuery({ ...oneLocation(props.value ?? 0), enabled: props.value !== null })
  const [text, sent] = [typed, debounced].map((one) => searchText(one, chosen, props.noneLabel)) as [string, string]
  const { data, isPlaceholderData, isError, refetch } = useQuery(listLocations({ q: sent, limit: size, offset: 0 }))
  const pathOf = useLocationPath()
  return (
    <Picker
      {...props}
      pathOf={pathOf}
      found={text === sent && !isPlaceholderData ? data?.data : undefined}
      total={data?.total_count}
      onRetry={text === sent && isError ? () => void refetch() : null}
      chosen={props.value === null ? undefined : chosen}
      text={text}
      onSearch={setTyped}
    />
  )
}

export function AssetPicker(props: PickerProps) {
  const [typed, setTyped] = useState('')
  const [debounced] = useDebouncedValue(typed, 200)
  const { data: chosen } = useQuery({ ...oneAsset(props.value ?? 0), enabled: props.value !== null })
  const [text, sent] = [typed, debounced].map((one) => searchText(one, chosen, props.noneLabel)) as [string, string]
  const { data, isPlaceholderData, isError, refetch } = useQuery(listAssets({ q: sent, limit: size, offset: 0 }))
  return (
    <Picker
      {...props}
      found={text === sent && !isPlaceholderData ? data?.data : undefined}
      total={data?.total_count}
      onRetry={text === sent && isError ? () => void refetch() : null}
      chosen={props.value === null ? undefined : chosen}
      text={text}
      onSearch={setTyped}
    />
  )
}

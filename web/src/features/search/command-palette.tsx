import { Spotlight, type SpotlightActionData, createSpotlight } from '@mantine/spotlight'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { getOne } from '../../api/request.ts'
import type { SearchResult } from '../../api/types.ts'
import { IconArrowRight, IconBox, IconMapPin, IconSearch, IconTag } from '../../components/icons.ts'

const [store, actions] = createSpotlight()

const pages = [
  ['/', 'Overview'],
  ['/assets', 'Assets'],
  ['/locations', 'Locations'],
  ['/scan', 'Scan'],
  ['/readers', 'Readers'],
  ['/readers/inbox', 'Inbox of unknown tags'],
  ['/reports', 'Reports'],
  ['/labels', 'Labels'],
  ['/import', 'Import & export'],
  ['/settings/account', 'Account'],
] as const

/** Ctrl+K: finds assets, locations and tags by name, key or value, and the pages of the app. */
export function CommandPalette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [searchText] = useDebouncedValue(query.trim(), 160)
  useEffect(() => (opened ? actions.open() : actions.close()), [opened])
  const search = useQuery({
    queryKey: ['search', searchText],
    queryFn: ({ signal }) => getOne<SearchResult>('/search', { q: searchText, limit: 8 }, signal),
    enabled: opened && searchText !== '',
    placeholderData: keepPreviousData,
  })
  const result = searchText === '' ? undefined : search.data
  const goTo = (href: string) => () => void navigate({ href })
  const groups: { group: string; actions: SpotlightActionData[] }[] = [
    {
      group: 'Assets',
      actions: (result?.assets ?? []).map((one) => ({
        id: `asset-${one.id}`,
        label: one.name,
        description: one.external_key,
        leftSection: <IconBox size={18} />,
        onClick: goTo(`/assets/${one.id}`),
      })),
    },
    {
      group: 'Locations',
      actions: (result?.locations ?? []).map((one) => ({
        id: `location-${one.id}`,
        label: one.name,
        description: one.external_key,
        leftSection: <IconMapPin size={18} />,
        onClick: goTo(`/locations/${one.id}`),
      })),
    },
    {
      group: 'Tags',
      actions: (result?.tags ?? []).map((one) => ({
        id: `tag-${one.id}`,
        label: one.value,
        description: `${one.tag_type} on ${one.holder_name} (${one.holder_key})`,
        leftSection: <IconTag size={18} />,
        onClick: goTo(one.asset_id === null ? `/locations/${String(one.location_id)}` : `/assets/${one.asset_id}`),
      })),
    },
    {
      group: 'Pages',
      actions: pages
        .filter(([, label]) => label.toLowerCase().includes(query.trim().toLowerCase()))
        .map(([href, label]) => ({
          id: href,
          label,
          leftSection: <IconArrowRight size={18} />,
          onClick: goTo(href),
        })),
    },
  ]
  /** Results arrive after the input, so Enter selects the first result when none is highlighted. */
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const list = document.getElementById(store.getState().listId)
    if (event.key !== 'Enter' || list?.querySelector('[data-selected]') != null) return
    list?.querySelector<HTMLElement>('[data-action]')?.click()
  }
  return (
    <Spotlight
      store={store}
      actions={groups.filter((one) => one.actions.length > 0)}
      filter={(_query, all) => all}
      query={query}
      onQueryChange={setQuery}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight={420}
      nothingFound={search.isFetching ? 'Searching …' : 'No matching name, key or tag'}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: 'Search by name, key or tag',
        'aria-label': 'Search everything',
        onKeyDown,
      }}
    />
  )
}

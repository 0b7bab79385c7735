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

/** Ctrl+K: assets, locations and tags by any part of name, key or value, and the pages of the app. */
export function CommandPalette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [asked] = useDebouncedValue(query.trim(), 160)
  useEffect(() => (opened ? actions.open() : actions.close()), [opened])
  const found = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => getOne<SearchResult>('/search', { q: asked, limit: 8 }, signal),
    enabled: opened && asked !== '',
    placeholderData: keepPreviousData,
  })
  const result = asked === '' ? undefined : found.data
  const go = (href: string) => () => void navigate({ href })
  const groups: { group: string; actions: SpotlightActionData[] }[] = [
    {
      group: 'Assets',
      actions: (result?.assets ?? []).map((one) => ({
        id: `asset-${one.id}`,
        label: one.name,
        description: one.external_key,
        leftSection: <IconBox size={18} />,
        onClick: go(`/assets/${one.id}`),
      })),
    },
    {
      group: 'Locations',
      actions: (result?.locations ?? []).map((one) => ({
        id: `location-${one.id}`,
        label: one.name,
        description: one.external_key,
        leftSection: <IconMapPin size={18} />,
        onClick: go(`/locations/${one.id}`),
      })),
    },
    {
      group: 'Tags',
      actions: (result?.tags ?? []).map((one) => ({
        id: `tag-${one.id}`,
        label: one.value,
        description: `${one.tag_type} on ${one.holder_name} (${one.holder_key})`,
        leftSection: <IconTag size={18} />,
        onClick: go(one.asset_id === null ? `/locations/${String(one.location_id)}` : `/assets/${one.asset_id}`),
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
          onClick: go(href),
        })),
    },
  ]
  /** What is found arrives later than what is typed; Enter means the first of it unless another one is marked. */
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
      nothingFound={found.isFetching ? 'Searching …' : 'Nothing has this in its name, key or tag'}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: 'Name, key or tag of anything',
        'aria-label': 'Search everything',
        onKeyDown,
      }}
    />
  )
}

import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight, type SpotlightActionData, createSpotlight } from '@mantine/spotlight'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { signOut } from '../../api/auth.ts'
import { oneLocation } from '../../api/locations.ts'
import { getOne } from '../../api/request.ts'
import { isConnected, subscribeToConnection } from '../../api/connection.ts'
import { useLocationCounts, useLocationPath } from '../../api/overview.ts'
import type { Location, SearchResult } from '../../api/types.ts'
import { IconAntenna, IconBox, IconList, IconMapPin, IconSearch, IconTag } from '../../components/icons.ts'
import { useUser } from '../../components/use-session.ts'
import { tagLabel } from '../../lib/tags.ts'
import { ago, formatNumber } from '../../lib/time.ts'
import { findCommands } from './commands.tsx'

const [store, actions] = createSpotlight()

/** The number of results of each kind. */
const maxResults = 8

/** "Tags", or "Tags (first 8)" when there may be more. */
const titleOf = (kind: string, found: readonly unknown[] = []): string =>
  found.length < maxResults ? kind : `${kind} (first ${maxResults})`

/** "ASSET-0001 · Dock 3 · 5 min. ago" */
const describe = (what: string, location: string | null, at: string | null): string =>
  at === null ? `${what} · Never seen` : `${what} · ${location ?? 'No location'} · ${ago(at)}`

const describeTag = (tag: SearchResult['tags'][number]): string => `${tagLabel(tag.tag_type)} tag of ${tag.owner_name}`

function toGroups(
  result: SearchResult | undefined,
  searchText: string,
  describeLocation: (location: SearchResult['locations'][number]) => string,
  goTo: (href: string) => () => void,
  onSeeAll: (kind: 'assets' | 'locations') => void,
) {
  const assets = (result?.assets ?? []).map((one): SpotlightActionData => ({
    id: `asset-${one.id}`,
    label: one.name,
    description: describe(one.external_key, one.location_name, one.last_seen_at),
    leftSection: <IconBox size={18} />,
    onClick: goTo(`/assets/${one.id}`),
  }))
  const locations = (result?.locations ?? []).map((one): SpotlightActionData => ({
    id: `location-${one.id}`,
    label: one.name,
    description: describeLocation(one),
    leftSection: <IconMapPin size={18} />,
    onClick: goTo(`/locations/${one.id}`),
  }))
  const withSeeAll = (found: SpotlightActionData[], kind: 'assets' | 'locations'): SpotlightActionData[] =>
    found.length === 0
      ? []
      : [
          ...found,
          {
            id: `see-all-${kind}`,
            label: `See all ${kind}`,
            description: `${kind === 'assets' ? 'Assets' : 'Locations'} that contain “${searchText}”`,
            leftSection: <IconList size={18} />,
            onClick: () => onSeeAll(kind),
          },
        ]
  /** An entry that leads to the list with the results that are not shown. */
  const seeMore = (kind: string, found: readonly unknown[] = [], entry: Omit<SpotlightActionData, 'id'>) =>
    found.length < maxResults ? [] : [{ id: `see-all-${kind}`, leftSection: <IconList size={18} />, ...entry }]
  return [
    { group: titleOf('Assets', result?.assets), actions: withSeeAll(assets, 'assets') },
    { group: titleOf('Locations', result?.locations), actions: withSeeAll(locations, 'locations') },
    {
      group: titleOf('Tags', result?.tags),
      actions: [
        ...(result?.tags ?? []).map((one) => ({
          id: `tag-${one.id}`,
          label: one.value,
          description:
            one.asset_id === null
              ? describeTag(one)
              : describe(describeTag(one), one.last_seen_location, one.last_seen_at),
          leftSection: <IconTag size={18} />,
          onClick: goTo(one.asset_id === null ? `/locations/${String(one.location_id)}` : `/assets/${one.asset_id}`),
        })),
        ...seeMore('tags', result?.tags, {
          label: 'See all tagged assets',
          description: `Assets that contain “${searchText}”, also in a tag`,
          onClick: () => onSeeAll('assets'),
        }),
      ],
    },
    {
      group: titleOf('Readers', result?.readers),
      actions: [
        ...(result?.readers ?? []).map((one) => ({
          id: `reader-${one.id}`,
          label: one.name,
          description: one.last_seen_at === null ? 'No message yet' : `Last message ${ago(one.last_seen_at)}`,
          leftSection: <IconAntenna size={18} />,
          onClick: goTo(`/readers/${one.id}`),
        })),
        ...seeMore('readers', result?.readers, { label: 'See all readers', onClick: goTo('/readers') }),
      ],
    },
  ]
}

/** The location whose page is open. */
function useOpenLocation(): Location | null {
  const path = useRouterState({ select: (state) => state.location.pathname })
  const id = /^\/locations\/(\d+)$/.exec(path)?.[1]
  return useQueryClient().getQueryData(oneLocation(Number(id)).queryKey) ?? null
}

const elements = (): HTMLElement[] =>
  Array.from(document.getElementById(store.getState().listId)?.querySelectorAll<HTMLElement>('[data-action]') ?? [])

/** Highlights one entry of the list, or none. The arrow keys of the component continue from there. */
function highlight(index: number): void {
  elements().forEach((one, position) =>
    position === index ? one.setAttribute('data-selected', 'true') : one.removeAttribute('data-selected'),
  )
  store.updateState((state) => ({ ...state, selected: index }))
}

/** Ctrl+K: finds assets, locations, tags and readers, and the pages, settings and actions of the app. */
export function CommandPalette({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const { role } = useUser()
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme()
  const [query, setQuery] = useState('')
  const [searchText] = useDebouncedValue(query.trim(), 160)
  useEffect(() => (opened ? actions.open() : actions.close()), [opened])
  const search = useQuery({
    queryKey: ['search', searchText],
    queryFn: ({ signal }) => getOne<SearchResult>('/search', { q: searchText, limit: maxResults }, signal),
    enabled: opened && searchText !== '',
    placeholderData: keepPreviousData,
  })
  const result = searchText === '' ? undefined : search.data
  const isPending = query.trim() !== searchText || (searchText !== '' && search.isFetching)
  const counts = useLocationCounts()
  const pathOf = useLocationPath()
  const describeLocation = ({ id, external_key: key }: SearchResult['locations'][number]): string => {
    const assets = counts.get(id)?.here_with_subtree
    const count = assets === undefined ? '' : `${formatNumber(assets)} ${assets === 1 ? 'asset' : 'assets'}`
    return [key, pathOf(id), count].filter((part) => part !== '').join(' · ')
  }
  const isReachable = useSyncExternalStore(subscribeToConnection, isConnected)
  const goTo = (href: string) => () => void navigate({ href })
  const [first] = result?.locations ?? []
  const foundLocation = first === undefined ? null : { ...first, isFound: true }
  const open = useOpenLocation()
  const openLocation = open === null ? null : { ...open, isFound: false }
  const groups = [
    ...toGroups(
      result,
      searchText,
      describeLocation,
      goTo,
      (kind) => void navigate({ to: `/${kind}`, search: { q: searchText } }),
    ),
    ...findCommands({
      q: query.trim(),
      role,
      scanAt: foundLocation ?? openLocation,
      onGo: (href) => goTo(href)(),
      onToggleTheme: () => setColorScheme(scheme === 'dark' ? 'light' : 'dark'),
      onSignOut: () => void signOut(),
    }),
  ].filter((one) => one.actions.length > 0)

  /** The user has chosen an entry with the arrow keys since the text changed. */
  const hasChosen = useRef(false)
  /** Enter was pressed before the results arrived, as a hand scanner does. */
  const opensFirst = useRef(false)
  const shown = groups.flatMap((one) => one.actions.map(({ id }) => id)).join()
  useEffect(() => {
    if (!opened || hasChosen.current) return
    highlight(0)
    if (isPending || !opensFirst.current) return
    opensFirst.current = false
    elements()[0]?.click()
  }, [opened, shown, isPending])
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') hasChosen.current = true
    if (event.key !== 'Enter' || !isPending || hasChosen.current) return
    opensFirst.current = true
    highlight(-1)
  }
  return (
    <Spotlight
      store={store}
      actions={groups}
      filter={(_query, all) => all}
      query={query}
      onQueryChange={(text) => {
        hasChosen.current = false
        opensFirst.current = false
        setQuery(text)
      }}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      maxHeight={420}
      nothingFound={
        !isReachable
          ? 'The server cannot be reached'
          : isPending
            ? 'Searching …'
            : search.isError
              ? 'The search failed. Change the text to try again.'
              : 'No results'
      }
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: 'Search by name, key or tag',
        'aria-label': 'Search everything',
        onKeyDown,
      }}
    />
  )
}

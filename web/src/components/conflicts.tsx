import { Anchor } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ConflictError } from '../../../client/src/errors.ts'
import type { RecordKind } from '../api/assets.ts'
import { get, getOne } from '../api/request.ts'
import type { Asset, List, Location, SearchResult } from '../api/types.ts'

/** Opens in another tab, because the form with the conflict is still open. */
function OwnerLink({ kind, id, name }: { kind: RecordKind; id: number; name: string }) {
  return (
    <Anchor
      inherit
      underline="always"
      target="_blank"
      renderRoot={(props) => <Link to={`/${kind}/${String(id)}`} {...props} />}
    >
      {name}
    </Anchor>
  )
}

const nounOf = (kind: RecordKind): string => (kind === 'assets' ? 'asset' : 'location')

/** Names the record that has the key. */
function KeyConflict({ kind, value }: { kind: RecordKind; value: string }) {
  const found = useQuery({
    queryKey: [kind, 'owner', value],
    queryFn: ({ signal }) => get<List<Asset | Location>>(`/${kind}`, { external_key: value, limit: 1 }, signal),
  })
  const owner = found.data?.data[0]
  if (owner === undefined) return <>This key belongs to another {nounOf(kind)}.</>
  return (
    <>
      This key belongs to the {nounOf(kind)} <OwnerLink kind={kind} id={owner.id} name={owner.name} />.
    </>
  )
}

/** Names the record that a tag is already attached to. */
export function TagConflict({ type, value }: { type: string; value: string }) {
  const found = useQuery({
    queryKey: ['search', 'owner', value],
    queryFn: ({ signal }) => getOne<SearchResult>('/search', { q: value, limit: 8 }, signal),
  })
  const isSameValue = (one: string): boolean =>
    one.replace(/[:-]/g, '').toLowerCase() === value.replace(/[:-]/g, '').toLowerCase()
  const owner = found.data?.tags.find((one) => one.tag_type === type && isSameValue(one.value))
  if (owner === undefined) return <>This tag is already attached to another record.</>
  const kind = owner.asset_id === null ? 'locations' : 'assets'
  return (
    <>
      This tag is attached to the {nounOf(kind)}{' '}
      <OwnerLink kind={kind} id={(owner.asset_id ?? owner.location_id)!} name={owner.owner_name} /> ({owner.owner_key}
      ). Detach it there first.
    </>
  )
}

/** Shows the conflict of a key under the field `external_key`. */
export function showKeyConflict<T extends { external_key: string }>(
  form: UseFormReturnType<T>,
  kind: RecordKind,
  error: unknown,
): void {
  if (!(error instanceof ConflictError) || !error.message.includes('external_key')) return
  form.setFieldError('external_key', <KeyConflict kind={kind} value={form.getValues().external_key} />)
}

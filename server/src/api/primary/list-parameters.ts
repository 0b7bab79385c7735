import { booleanParam, keysParam, searchParam, sortParam } from '../../http/validation/parameters.ts'
import type { QueryOf } from '../../http/validation/parameters.ts'
import { type Clock, now } from '../../kernel/clock.ts'
import type { ListRequest } from '../../records/list.sql.ts'
import { paging } from '../shared/wire.ts'

/** The query parameters that asset and location lists share. */
export const recordParameters = {
  ...paging,
  external_key: keysParam,
  is_active: booleanParam,
  include_deleted: booleanParam,
  q: searchParam,
  sort: sortParam(['external_key', 'name', 'created_at', 'updated_at'], [{ field: 'external_key', descending: false }]),
}

export function listRequest(query: QueryOf<typeof recordParameters>, clock: Clock): ListRequest {
  return {
    limit: query.limit,
    offset: query.offset,
    sort: query.sort,
    now: now(clock),
    filter: {
      externalKeys: query.external_key,
      isActive: query.is_active,
      includeDeleted: query.include_deleted,
      q: query.q,
    },
  }
}

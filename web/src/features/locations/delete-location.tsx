import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { deleteLocation, dependentsOf } from '../../api/locations.ts'
import { refreshOverview } from '../../api/overview.ts'
import type { Location } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'
import { deleteWithUndo } from '../../components/delete-with-undo.tsx'
import { QueryView } from '../../components/query-view.tsx'
import { formatNumber } from '../../lib/time.ts'

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${formatNumber(count)} ${many}`

const contentsOf = (below: number, here: number): string =>
  [
    ...(below > 0 ? [counted(below, 'location below it', 'locations below it')] : []),
    ...(here > 0 ? [counted(here, 'asset that was last seen there', 'assets that were last seen there')] : []),
  ].join(' and ')

/** Deletes a location after 30 seconds, or says what has to be moved away first. */
export function DeleteLocation({ location, onClose }: { location: Location; onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const dependents = useQuery(dependentsOf(location.id))
  const onDelete = async (): Promise<void> => {
    deleteWithUndo(location.name, [location.id], deleteLocation, () => {
      refreshOverview(queries)
      return queries.invalidateQueries({ queryKey: ['locations'] })
    })
    await navigate({ to: '/locations' })
  }
  if (dependents.data?.below === 0 && dependents.data.here === 0)
    return (
      <Confirm opened title={`Delete ${location.name}?`} verb="Delete location" onConfirm={onDelete} onClose={onClose}>
        It is removed from all lists and its tags are detached. Past moves to and from it stay in the reports. You can
        undo this for 30 seconds.
      </Confirm>
    )
  return (
    <Modal opened onClose={onClose} title={`Delete ${location.name}?`}>
      <Stack>
        <QueryView query={dependents} rows={1}>
          {({ below, here }) => (
            <Text size="sm">
              {location.name} cannot be deleted yet: it has {contentsOf(below, here)}. Move them to another location
              first.
            </Text>
          )}
        </QueryView>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            Close
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

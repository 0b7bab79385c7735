import { ActionIcon, Button, Group, Menu, Paper, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteAsset, patchAsset } from '../../api/assets.ts'
import { refreshOverview } from '../../api/overview.ts'
import { Confirm } from '../../components/confirm.tsx'
import { deleteWithUndo } from '../../components/delete-with-undo.tsx'
import { notify, notifyError } from '../../components/feedback.tsx'
import { IconDots, IconDownload, IconMapPin, IconPrinter, IconTrash, IconX } from '../../components/icons.ts'
import { useHasRole } from '../../components/use-session.ts'
import { download } from '../../lib/download.ts'
import { formatNumber } from '../../lib/time.ts'
import type { AssetRow } from './asset-columns.tsx'
import { SetLocation } from './set-location.tsx'

export type SelectedAsset = Pick<AssetRow['asset'], 'id' | 'external_key' | 'name' | 'is_active'>

/** The most assets that one action changes. */
export const maxSelected = 200

/** Changes one asset after the other, and stops at the first error. Returns how many were changed. */
async function setActive(
  assets: readonly SelectedAsset[],
  isActive: boolean,
): Promise<{ changed: number; error?: unknown }> {
  let changed = 0
  try {
    for (const { id, is_active: wasActive } of assets) {
      if (wasActive === isActive) continue
      await patchAsset(id, { is_active: isActive })
      changed++
    }
    return { changed }
  } catch (error) {
    return { changed, error }
  }
}

/** A bar at the lower edge of the screen, so that the table does not move when a row is selected. */
export function BulkActions({ assets, onClear }: { assets: readonly SelectedAsset[]; onClear: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const isOperator = useHasRole('operator')
  const isManager = useHasRole('manager')
  const [open, setOpen] = useState<'location' | 'delete' | null>(null)
  const count = assets.length === 1 ? '1 asset' : `${formatNumber(assets.length)} assets`
  const ids = assets.map((one) => one.id)
  const refresh = (): Promise<void> => {
    refreshOverview(queries)
    return queries.invalidateQueries({ queryKey: ['assets'] })
  }
  const activate = useMutation({
    mutationFn: (isActive: boolean) => setActive(assets, isActive),
    onSuccess: ({ changed, error }, isActive) => {
      notify(`${formatNumber(changed)} of ${count} ${isActive ? 'activated' : 'deactivated'}.`)
      if (error === undefined) onClear()
      else notifyError(error)
      return refresh()
    },
  })
  const exportSelected = useMutation({
    mutationFn: () => download('/exports/assets.csv', 'assets.csv', { asset_id: ids }),
    onError: notifyError,
  })
  return (
    <>
      <Paper className="bulk-bar" role="region" aria-label="Selected assets" shadow="md" withBorder>
        <Text size="sm" fw={600} className="number" aria-live="polite">
          {count} selected{assets.length >= maxSelected && ', the maximum for one action'}
        </Text>
        <Group gap={6} wrap="nowrap">
          {isOperator && (
            <Button size="xs" leftSection={<IconMapPin size={15} />} onClick={() => setOpen('location')}>
              Set location
            </Button>
          )}
          <Menu position="top-end" shadow="md">
            <Menu.Target>
              <Button
                variant="default"
                size="xs"
                leftSection={<IconDots size={15} />}
                loading={activate.isPending || exportSelected.isPending}
              >
                Actions
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconPrinter size={16} />}
                onClick={() =>
                  void navigate({ to: '/labels', search: { keys: assets.map((one) => one.external_key) } })
                }
              >
                Print labels
              </Menu.Item>
              <Menu.Item leftSection={<IconDownload size={16} />} onClick={() => exportSelected.mutate()}>
                Export CSV
              </Menu.Item>
              {isManager && (
                <>
                  <Menu.Item onClick={() => activate.mutate(true)}>Activate</Menu.Item>
                  <Menu.Item onClick={() => activate.mutate(false)}>Deactivate</Menu.Item>
                  <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setOpen('delete')}>
                    Delete
                  </Menu.Item>
                </>
              )}
            </Menu.Dropdown>
          </Menu>
          <ActionIcon variant="subtle" color="gray" aria-label="Clear the selection" onClick={onClear}>
            <IconX size={16} />
          </ActionIcon>
        </Group>
      </Paper>
      {open === 'location' && <SetLocation assets={assets} onClose={() => setOpen(null)} />}
      <Confirm
        opened={open === 'delete'}
        title={`Delete ${count}?`}
        verb={`Delete ${count}`}
        onConfirm={async () => {
          deleteWithUndo(count, ids, deleteAsset, refresh)
          onClear()
        }}
        onClose={() => setOpen(null)}
      >
        They are removed from all lists and their tags are detached. Their past moves stay in the reports. You can undo
        this for 30 seconds.
      </Confirm>
    </>
  )
}

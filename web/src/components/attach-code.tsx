import { Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConflictError } from '../../../client/src/errors.ts'
import { attachTag, createAsset } from '../api/assets.ts'
import { refreshOverview } from '../api/overview.ts'
import type { TagDraft } from '../api/types.ts'
import { tagTypes } from '../lib/tags.ts'
import { ago } from '../lib/time.ts'
import { TagConflict } from './conflicts.tsx'
import { AssetPicker } from './pickers.tsx'
import { ErrorAlert, notify } from './feedback.tsx'
import { GuardedModal } from './guarded-modal.tsx'

export interface TagAttachment {
  toAsset: (assetId: number, tag: TagDraft) => Promise<{ last_read_at?: string | null }>
  toNewAsset: (name: string, tag: TagDraft) => Promise<{ last_read_at?: string | null }>
}

/** Attaches a tag without a sighting. */
const attachOnly: TagAttachment = {
  async toAsset(assetId, tag) {
    await attachTag('assets', assetId, tag)
    return {}
  },
  async toNewAsset(name, tag) {
    await createAsset({ name, tags: [tag] })
    return {}
  },
}

/** A dialog that attaches an unknown code to an existing or a new asset. */
export function AttachCode({
  title,
  code,
  type,
  attach = attachOnly,
  onDone,
  onClose,
}: {
  title: string
  code: string
  type: string
  attach?: TagAttachment
  onDone: () => void
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [mode, setMode] = useState('existing')
  const [tagType, setTagType] = useState(type)
  const [assetId, setAssetId] = useState<number | null>(null)
  const [name, setName] = useState('')
  const action = useMutation({
    mutationFn: () => {
      const tag = { tag_type: tagType, value: code }
      return mode === 'new' ? attach.toNewAsset(name, tag) : attach.toAsset(assetId!, tag)
    },
    onSuccess: ({ last_read_at: lastReadAt }) => {
      for (const key of ['assets', 'positions', 'inbox', 'attention'])
        void queries.invalidateQueries({ queryKey: [key] })
      refreshOverview(queries)
      const seen = typeof lastReadAt === 'string' ? ` The asset was last seen ${ago(lastReadAt)}.` : ''
      notify(`${code} is attached.${seen}`)
      onDone()
    },
  })
  const isTaken = action.error instanceof ConflictError
  return (
    <GuardedModal guards={name !== '' || assetId !== null ? 'input' : null} opened onClose={onClose} title={title}>
      <Stack
        gap="sm"
        component="form"
        onSubmit={(event) => {
          event.preventDefault()
          action.mutate()
        }}
      >
        <Text size="sm" className="key">
          {code}
        </Text>
        <Select
          label="Tag type"
          data={tagTypes}
          value={tagType}
          allowDeselect={false}
          onChange={(next) => setTagType(next ?? tagType)}
        />
        <SegmentedControl
          aria-label="Attach to"
          value={mode}
          onChange={setMode}
          data={[
            { value: 'existing', label: 'An existing asset' },
            { value: 'new', label: 'A new asset' },
          ]}
        />
        {mode === 'existing' ? (
          <AssetPicker label="Asset" value={assetId} onChange={setAssetId} />
        ) : (
          <TextInput
            label="Name"
            value={name}
            maxLength={255}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
        {action.isError && !isTaken && <ErrorAlert error={action.error} />}
        {isTaken && (
          <Text size="sm" role="alert">
            <TagConflict type={tagType} value={code} />
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={action.isPending}
            disabled={mode === 'existing' ? assetId === null : name.trim() === ''}
          >
            Attach
          </Button>
        </Group>
      </Stack>
    </GuardedModal>
  )
}

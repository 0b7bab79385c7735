import { Button, Group, SegmentedControl, Select, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { attachTag, createAsset } from '../api/assets.ts'
import { ApiError } from '../api/errors.ts'
import { tagTypes } from '../lib/tags.ts'
import { AssetPicker } from './pickers.tsx'
import { ErrorAlert, notify } from './feedback.tsx'
import { TagConflict } from './tags-card.tsx'

/** Hangs a code that nobody knows on an asset, there already or new. */
export function AttachCode({ code, type, onDone }: { code: string; type: string; onDone: () => void }) {
  const queries = useQueryClient()
  const [mode, setMode] = useState('old')
  const [kind, setKind] = useState(type)
  const [assetId, setAssetId] = useState<number | null>(null)
  const [name, setName] = useState('')
  const action = useMutation({
    mutationFn: async () => {
      const tag = { tag_type: kind, value: code }
      if (mode === 'new') await createAsset({ name, tags: [tag] })
      else await attachTag('assets', assetId!, tag)
    },
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: ['assets'] })
      notify(`${code} is known now.`)
      onDone()
    },
  })
  const isTaken = action.error instanceof ApiError && action.error.type === 'conflict'
  return (
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
        label="Kind of tag"
        data={tagTypes}
        value={kind}
        allowDeselect={false}
        onChange={(next) => setKind(next ?? kind)}
      />
      <SegmentedControl
        aria-label="Attach to"
        value={mode}
        onChange={setMode}
        data={[
          { value: 'old', label: 'An asset I have' },
          { value: 'new', label: 'A new asset' },
        ]}
      />
      {mode === 'old' ? (
        <AssetPicker label="Asset" value={assetId} onChange={setAssetId} />
      ) : (
        <TextInput
          label="Name"
          value={name}
          maxLength={255}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
      )}
      {action.isError && (isTaken ? <TagConflict value={code} /> : <ErrorAlert error={action.error} />)}
      <Group justify="flex-end">
        <Button
          type="submit"
          loading={action.isPending}
          disabled={mode === 'old' ? assetId === null : name.trim() === ''}
        >
          Attach
        </Button>
      </Group>
    </Stack>
  )
}

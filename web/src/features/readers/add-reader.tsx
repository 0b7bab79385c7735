import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { NewReader } from '../../api/types.ts'
import { OneTimeSecrets } from '../../components/copy.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { ReaderForm } from './reader-form.tsx'
import { Snippets } from './snippets.tsx'

/**
 * The form for a new reader, then its token, which the server returns only once. With a topic key, messages under that
 * topic are assigned to the new reader.
 */
export function AddReader({ topicKey, onClose }: { topicKey?: string; onClose: () => void }) {
  const [created, setCreated] = useState<NewReader | null>(null)
  if (created === null) return <ReaderForm reader={null} topicKey={topicKey} onClose={onClose} onCreated={setCreated} />
  return (
    <GuardedModal guards="secret" opened onClose={onClose} title={created.name} size="lg">
      <OneTimeSecrets values={[{ label: 'Reader token', value: created.token }]} onDone={onClose}>
        <Stack gap={4}>
          <Text fw={600}>{topicKey === undefined ? 'Configure the device' : 'The device needs no changes'}</Text>
          {topicKey !== undefined && (
            <Text size="sm">
              Messages under its current topic are accepted from now on. The token is needed only if you switch the
              device to HTTP.
            </Text>
          )}
          <Snippets
            format={created.format}
            connection={{ ingestUrl: created.ingest_url, token: created.token, mqtt: created.mqtt }}
          />
        </Stack>
      </OneTimeSecrets>
    </GuardedModal>
  )
}

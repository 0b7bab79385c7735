import { Modal, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { NewReader } from '../../api/types.ts'
import { OneTimeSecrets } from '../../components/copy.tsx'
import { ReaderForm } from './reader-form.tsx'
import { Snippets } from './snippets.tsx'

/** The form for a reader, then what the server shows once about it. With a topic, what is sent there is taken at once. */
export function AddReader({ topicKey, onClose }: { topicKey?: string; onClose: () => void }) {
  const [made, setMade] = useState<NewReader | null>(null)
  if (made === null) return <ReaderForm reader={null} topicKey={topicKey} onClose={onClose} onMade={setMade} />
  return (
    <Modal opened onClose={onClose} title={made.name} size="lg">
      <OneTimeSecrets values={[{ label: 'Token of the reader', value: made.token }]} onDone={onClose}>
        <Stack gap={4}>
          <Text fw={600}>{topicKey === undefined ? 'Point the device here' : 'Nothing to change in the device'}</Text>
          {topicKey !== undefined && (
            <Text size="sm">
              Messages under the topic it uses already are taken from now on. The token is for HTTP, should you want
              that later.
            </Text>
          )}
          <Snippets
            format={made.format}
            connection={{ ingestUrl: made.ingest_url, token: made.token, mqtt: made.mqtt }}
          />
        </Stack>
      </OneTimeSecrets>
    </Modal>
  )
}

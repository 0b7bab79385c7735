import { Text } from '@mantine/core'
import { useState } from 'react'
import type { NewReader } from '../../api/types.ts'
import { ReaderForm } from './reader-form.tsx'
import { ReaderToken } from './reader-token.tsx'

/**
 * The form for a new reader, then its token, which the server returns only once. With a topic key, messages under that
 * topic are assigned to the new reader.
 */
export function AddReader({ topicKey, onClose }: { topicKey?: string; onClose: () => void }) {
  const [created, setCreated] = useState<NewReader | null>(null)
  if (created === null) return <ReaderForm reader={null} topicKey={topicKey} onClose={onClose} onCreated={setCreated} />
  return topicKey === undefined ? (
    <ReaderToken reader={created} heading="Configure the device" onClose={onClose} />
  ) : (
    <ReaderToken reader={created} heading="The device needs no changes" onClose={onClose}>
      <Text size="sm">
        Messages under its current topic are accepted from now on. The token is needed only if you switch the device to
        HTTP.
      </Text>
    </ReaderToken>
  )
}

import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { NewReader } from '../../api/types.ts'
import { OneTimeSecrets } from '../../components/copy.tsx'
import { GuardedModal } from '../../components/guarded-modal.tsx'
import { Snippets } from './snippets.tsx'

/** The new token of a reader, which the server returns only once, and the settings for the device. */
export function ReaderToken({
  reader,
  heading,
  children,
  onClose,
}: {
  reader: NewReader
  heading: string
  children?: ReactNode
  onClose: () => void
}) {
  return (
    <GuardedModal guards="secret" opened onClose={onClose} title={reader.name} size="lg">
      <OneTimeSecrets values={[{ label: 'Reader token', value: reader.token }]} onDone={onClose}>
        <Stack gap={4}>
          <Text fw={600}>{heading}</Text>
          {children}
          <Snippets
            format={reader.format}
            connection={{ ingestUrl: reader.ingest_url, token: reader.token, mqtt: reader.mqtt }}
          />
        </Stack>
      </OneTimeSecrets>
    </GuardedModal>
  )
}

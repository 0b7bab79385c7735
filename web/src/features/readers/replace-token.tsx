import { Select, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { replaceReaderToken } from '../../api/readers.ts'
import type { NewReader, Reader } from '../../api/types.ts'
import { Confirm } from '../../components/confirm.tsx'

const overlaps = [
  { value: '0', label: 'Stops at once' },
  { value: '3600', label: 'Works for another hour' },
  { value: '86400', label: 'Works for another day' },
  { value: '604800', label: 'Works for another week' },
]

/** Asks how long the old token should still work, and replaces it. */
export function ReplaceToken({
  reader,
  onReplaced,
  onClose,
}: {
  reader: Reader
  onReplaced: (reader: NewReader) => void
  onClose: () => void
}) {
  const [overlap, setOverlap] = useState('0')
  return (
    <Confirm
      opened
      title={`Replace the token of ${reader.name}?`}
      verb="Replace token"
      onConfirm={async () => onReplaced(await replaceReaderToken(reader.id, Number(overlap)))}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Select
          label="Old token"
          data={overlaps}
          value={overlap}
          allowDeselect={false}
          onChange={(value) => setOverlap(value ?? '0')}
        />
        <Text size="sm">
          {overlap === '0'
            ? 'An MQTT connection is closed. The device sends again when you have given it the new token.'
            : 'The device keeps sending while you give it the new token. Deleting the reader ends both tokens. Choose “Stops at once” if the token may be known to others.'}{' '}
          The settings, antennas and past reads stay.
        </Text>
      </Stack>
    </Confirm>
  )
}

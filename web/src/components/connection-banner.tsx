import { Affix, Alert } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { isConnected, subscribeToConnection } from '../api/connection.ts'
import { IconAlertTriangle } from './icons.ts'

/** Shown while the server cannot be reached. */
export function ConnectionBanner() {
  const isShown = !useSyncExternalStore(subscribeToConnection, isConnected)
  return (
    <Affix position={{ bottom: 0, left: 0, right: 0 }} role="status">
      {isShown && (
        <Alert
          color="yellow"
          variant="filled"
          autoContrast
          radius={0}
          role="presentation"
          icon={<IconAlertTriangle size={18} />}
          title="The server cannot be reached"
        >
          The app tries again every few seconds and continues by itself. Changes cannot be saved until then.
        </Alert>
      )}
    </Affix>
  )
}

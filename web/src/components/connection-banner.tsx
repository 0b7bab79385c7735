import { Alert } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useEffect, useSyncExternalStore } from 'react'
import { isConnected, subscribeToConnection } from '../api/connection.ts'
import { IconAlertTriangle } from './icons.ts'

/**
 * The CSS uses it to place elements that are fixed to the lower edge of the screen above the banner, and to pad the page.
 */
const heightVariable = '--connection-banner-height'

/** Shown while the server cannot be reached: above the bottom bar of a phone, beside the navigation of a desk. */
export function ConnectionBanner() {
  const isShown = !useSyncExternalStore(subscribeToConnection, isConnected)
  const { ref, height } = useElementSize()
  useEffect(() => {
    document.documentElement.style.setProperty(heightVariable, `${isShown ? Math.ceil(height) : 0}px`)
  }, [isShown, height])
  return (
    <div role="status" className="connection-banner">
      {isShown && (
        <div ref={ref}>
          <Alert
            color="yellow"
            variant="filled"
            autoContrast
            radius={0}
            role="presentation"
            icon={<IconAlertTriangle size={18} />}
            title="The server cannot be reached"
          >
            The app reconnects automatically. Changes cannot be saved until then. Scanned codes are kept.
          </Alert>
        </div>
      )}
    </div>
  )
}

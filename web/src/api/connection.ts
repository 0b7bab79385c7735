import { onlineManager } from '@tanstack/react-query'

const checkIntervalMs = 2000
const timeoutMs = 5000

let checkInFlight: Promise<boolean> | null = null
let nextCheck: ReturnType<typeof setTimeout> | undefined

/** Requests a small file. A proxy in front of a server that is away responds with 502, 503 or 504. */
async function isServerReachable(): Promise<boolean> {
  try {
    const init = { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) } as const
    return (await fetch('/mark.svg', init)).status < 500
  } catch {
    return false
  }
}

async function check(): Promise<boolean> {
  const isReachable = await isServerReachable()
  clearTimeout(nextCheck)
  if (!isReachable) nextCheck = setTimeout(() => void checkConnection(), checkIntervalMs)
  onlineManager.setOnline(isReachable)
  return isReachable
}

/**
 * Called when a request got no response. While the server cannot be reached, queries wait, and the server is requested
 * again and again; as soon as it responds, queries continue.
 */
export function checkConnection(): Promise<boolean> {
  checkInFlight ??= check().finally(() => (checkInFlight = null))
  return checkInFlight
}

// The `online` event concerns the network of the browser and says nothing about the server.
onlineManager.setEventListener(() => {
  const onChange = (): void => void checkConnection()
  window.addEventListener('online', onChange)
  window.addEventListener('offline', onChange)
  return () => {
    window.removeEventListener('online', onChange)
    window.removeEventListener('offline', onChange)
  }
})

export const isConnected = (): boolean => onlineManager.isOnline()

export const subscribeToConnection = (listener: () => void): (() => void) => onlineManager.subscribe(listener)

export function untilConnected(): Promise<void> {
  return new Promise((resolve) => {
    if (isConnected()) return resolve()
    const unsubscribe = subscribeToConnection(() => {
      if (!isConnected()) return
      unsubscribe()
      resolve()
    })
  })
}

function reload(): Promise<never> {
  window.location.reload()
  return new Promise(() => undefined)
}

/** A file of the app is missing although the server responds: it has a newer build. */
export class OutdatedPageError extends Error {
  constructor(cause: unknown) {
    super('A new version of Lastseen was installed. Reload the page to use it.', { cause })
  }
}

/** Reloads the page for a missing file, once in a tab: a file that stays missing is reported. Returns whether it reloads. */
export function reloadOutdatedPage({ cause }: OutdatedPageError): boolean {
  const key = `lastseen.reloaded: ${String(cause)}`
  if (sessionStorage.getItem(key) !== null) return false
  sessionStorage.setItem(key, 'yes')
  void reload()
  return true
}

/**
 * Loads a part of the app's code. While the server cannot be reached, it waits. Then it loads the code again, or the
 * whole page where the browser does not repeat a failed request: for a stylesheet, and in some browsers for a module.
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (await checkConnection()) throw new OutdatedPageError(error)
    await untilConnected()
    return /CSS/.test(String(error)) ? reload() : await load().catch(reload)
  }
}

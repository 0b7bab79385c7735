import { type Query, openWithSession } from '../api/request.ts'

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Downloads a file with the session's token. An interrupted download is not saved: a truncated export looks complete. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  const response = await openWithSession(path, query, { headers: { Accept: '*/*' } })
  saveBlob(await response.blob(), name)
}

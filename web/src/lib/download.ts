import { type Query, respond } from '../api/request.ts'

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/** Fetches a file with the token of the session. One that breaks off is refused whole: half an export looks like a whole one. */
export async function download(path: string, name: string, query: Query = {}): Promise<void> {
  const response = await respond('GET', path, { query })
  saveBlob(await response.blob(), name)
}

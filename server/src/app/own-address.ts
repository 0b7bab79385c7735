/** Where the program is found that listens on `host`, which may stand for all addresses of the machine. */
export function ownAddress(scheme: 'http' | 'mqtt', host: string, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::'
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}:${port}`
}

const known = [
  'accessToken',
  'attempts',
  'baseUrl',
  'clientId',
  'clientSecret',
  'clock',
  'fetch',
  'naturalUrl',
  'onRequest',
  'onResponse',
  'rateLimitAttempts',
  'timeoutMs',
  'userAgent',
]

function reject(message: string): never {
  throw new TypeError(`Lastseen: ${message}`)
}

function checkUrl(name: string, value: unknown): void {
  if (typeof value !== 'string') reject(`${name} must be a string such as https://lastseen.example.com`)
  const url = URL.canParse(value) ? new URL(value) : reject(`${name} is not a URL: ${value}`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') reject(`${name} must begin with https:// or http://`)
  if (url.search !== '' || url.hash !== '') reject(`${name} must have no query and no fragment`)
  if (/\/api\/v1\/*$/.test(url.pathname)) reject(`${name} must not end with /api/v1, which the client adds`)
}

/** Throws a TypeError that names the first unknown option, such as a misspelt one, which would have no effect. */
export function checkNames(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) reject(`there is no option ${unknown}; the options are ${known.join(', ')}`)
}

/** Throws a TypeError that names the first wrong option. Values that may be secrets are not shown. */
export function checkOptions(options: object): void {
  const given = options as Record<string, unknown>
  checkNames(given, known)
  checkUrl('baseUrl', given['baseUrl'])
  if (given['naturalUrl'] !== undefined) checkUrl('naturalUrl', given['naturalUrl'])
  const { accessToken, clientId, clientSecret } = given
  if (accessToken === undefined) {
    for (const name of ['clientId', 'clientSecret'])
      if (typeof given[name] !== 'string' || given[name] === '') reject(`${name} or accessToken is missing`)
  } else {
    if (clientId !== undefined || clientSecret !== undefined) reject('pass a credential or an accessToken, not both')
    if ((typeof accessToken !== 'string' || accessToken === '') && typeof accessToken !== 'function')
      reject('accessToken must be a token or a function that returns one')
  }
  for (const name of ['attempts', 'rateLimitAttempts', 'timeoutMs']) {
    const value = given[name]
    if (value !== undefined && (!Number.isInteger(value) || (value as number) < 1))
      reject(`${name} must be a whole number of at least 1`)
  }
  for (const name of ['fetch', 'onRequest', 'onResponse'])
    if (given[name] !== undefined && typeof given[name] !== 'function') reject(`${name} must be a function`)
}

const libraries = [
  /^curl\//i,
  /^python-requests\//i,
  /^python-urllib\//i,
  /^go-http-client\//i,
  /^node$/i,
  /^undici$/i,
  /^axios\//i,
  /^okhttp\//i,
  /^java\//i,
  /^libwww-perl\//i,
]

/** True for a User-Agent that does not identify the client: an empty one, or the default of an HTTP library. */
export function isAnonymousAgent(userAgent: string | undefined): boolean {
  return userAgent === undefined || userAgent.trim() === '' || libraries.some((pattern) => pattern.test(userAgent))
}

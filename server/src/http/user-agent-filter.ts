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

/** True for a User-Agent that says nothing about who is calling. */
export function isAnonymousAgent(userAgent: string | undefined): boolean {
  return userAgent === undefined || userAgent.trim() === '' || libraries.some((pattern) => pattern.test(userAgent))
}

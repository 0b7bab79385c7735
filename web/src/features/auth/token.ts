/** Reads the token from the URL fragment, which browsers do not send, and removes it from the address bar. */
export function takeTokenFromUrl(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  return token
}

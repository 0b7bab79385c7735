/** The token of a link stands behind the #, which browsers do not send; it is taken out of the address at once. */
export function takeTokenFromUrl(): string {
  const token = new URLSearchParams(window.location.hash.slice(1)).get('token') ?? ''
  if (token !== '') window.history.replaceState(window.history.state, '', window.location.pathname)
  return token
}

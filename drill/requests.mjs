/** Exchanges the credential for an access token; throws unless the response is 200. */
export async function exchangeToken(origin, { client_id, client_secret }) {
  const response = await fetch(`${origin}/api/v1/oauth/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  })
  const { access_token: token } = await response.json()
  if (response.status !== 200) throw new Error(`a token exchange was answered with ${response.status}`)
  return token
}

/** Whether sign-up is open, as the server states in the page. The server enforces the setting. */
const mode = document.querySelector('meta[name=signup]')?.getAttribute('content')

export const isSignupOpen = mode !== 'invite-only' && mode !== 'closed'

/** Whether anybody may create an organization, as the server says in the page; only it decides. */
const mode = document.querySelector('meta[name=signup]')?.getAttribute('content')

export const isSignupOpen = mode !== 'invite-only' && mode !== 'closed'

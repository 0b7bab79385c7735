/** The worker does not have the files that this page loaded before; requested again, they come from the HTTP cache. */
function requestLoadedFiles(): void {
  for (const { name } of performance.getEntriesByType('resource'))
    if (name.startsWith(`${location.origin}/static/`)) void fetch(name).catch(() => undefined)
}

/** Without a service worker, as in a private window of some browsers, the app works as long as the server responds. */
export function registerServiceWorker(): void {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return
  navigator.serviceWorker.addEventListener('controllerchange', requestLoadedFiles)
  window.addEventListener('load', () => void navigator.serviceWorker.register('/sw.js').catch(() => undefined))
}

/* global caches, self, Response */
/**
 * Shows the app when a page is opened or reloaded while the server cannot be reached. It keeps the page that all URLs of
 * the app share and the files under /static/, whose names change with their content. No response of the API passes through
 * it. The build replaces the version, so every build installs a worker with a cache of its own.
 */
const cacheName = 'app-__BUILD__'
const sharedPage = '/'

/** Navigation to these paths does not open the app: the API with its reference, readers, checks, and files. */
const otherPath = /^\/(.*\/)?(api|ingest|static|metrics|healthz|readyz)(\/|$)|\.[^/]*$/

/** Keeps the page together with the files it names, which the browser has in its HTTP cache in most cases. */
async function install() {
  const page = await fetch(sharedPage, { cache: 'no-store' })
  const files = (await page.clone().text()).match(/\/static\/[^"]+/g)
  if (!page.ok || files === null) throw new Error('The server did not send the app')
  const cache = await caches.open(cacheName)
  await cache.addAll(files)
  await cache.put(sharedPage, page)
  await self.skipWaiting()
}

async function deleteCaches(isDeleted) {
  for (const name of await caches.keys()) if (isDeleted(name)) await caches.delete(name)
}

async function activate() {
  await deleteCaches((name) => name !== cacheName)
  await self.clients.claim()
}

/** Returns the response of the server, even an error. The cached page is returned only when the server does not respond. */
async function openPage(request) {
  try {
    return await fetch(request)
  } catch {
    return (await caches.match(sharedPage)) ?? Response.error()
  }
}

async function keep(request, response) {
  // After the removal, the worker still serves the pages that are open.
  if (await caches.has(cacheName)) await (await caches.open(cacheName)).put(request, response)
}

async function loadFile(event) {
  const { request } = event
  const kept = await caches.match(request, { cacheName, ignoreVary: true })
  if (kept !== undefined) return kept
  const response = await fetch(request)
  if (response.status === 200) event.waitUntil(keep(request, response.clone()))
  return response
}

/** Browsers keep a worker whose script was removed from the server. This one then removes itself. */
async function unregisterIfRemoved() {
  const { status } = await fetch(self.location.href, { method: 'HEAD', cache: 'no-store' })
  if (status !== 404 && status !== 410) return
  await self.registration.unregister()
  await deleteCaches(() => true)
}

self.addEventListener('install', (event) => event.waitUntil(install()))
self.addEventListener('activate', (event) => event.waitUntil(activate()))
self.addEventListener('fetch', (event) => {
  const { method, mode, url } = event.request
  const { origin, pathname } = new URL(url)
  if (method !== 'GET' || origin !== self.location.origin) return
  if (pathname.startsWith('/static/')) event.respondWith(loadFile(event))
  else if (mode === 'navigate' && !otherPath.test(pathname)) {
    event.respondWith(openPage(event.request))
    event.waitUntil(unregisterIfRemoved().catch(() => undefined))
  }
})

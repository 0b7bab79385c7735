import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Page, expect } from '@playwright/test'

export const url = (): string => process.env['BROWSER_TEST_URL'] ?? ''

/** The log of the server. */
export const serverLog = (): string => readFileSync(process.env['BROWSER_TEST_LOG'] ?? '', 'utf8')

export const password = 'correct horse battery'
export type Role = 'viewer' | 'operator' | 'manager' | 'admin'

/* eslint-disable @typescript-eslint/no-explicit-any */
export async function call(token: string | null, method: string, path: string, body?: unknown): Promise<any> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const response = await fetch(`${url()}/api/v1${path}`, {
    method,
    headers: {
      'User-Agent': 'lastseen-browser-tests',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': type }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : (JSON.parse(text) as { data: unknown }).data
}

/** A new organization for one test, created by sign-up. */
export class Org {
  readonly name: string
  readonly email: string
  readonly token: string

  constructor(name: string, email: string, token: string) {
    this.name = name
    this.email = email
    this.token = token
  }

  static async create(name = 'Northwind'): Promise<Org> {
    const email = `admin-${randomBytes(5).toString('hex')}@example.com`
    const created = await call(null, 'POST', '/auth/signup', { email, password, organization_name: name })
    return new Org(name, email, created.access_token as string)
  }

  get = (path: string): Promise<any> => call(this.token, 'GET', path)
  post = (path: string, body: unknown): Promise<any> => call(this.token, 'POST', path, body)
  patch = (path: string, body: unknown): Promise<any> => call(this.token, 'PATCH', path, body)

  location = (name: string, more: object = {}): Promise<{ id: number; external_key: string; name: string }> =>
    this.post('/locations', { name, ...more })

  asset = (name: string, more: object = {}): Promise<{ id: number; external_key: string; name: string }> =>
    this.post('/assets', { name, ...more })

  reader = (name: string, antennas: readonly (number | null)[]): Promise<{ id: number; token: string }> =>
    this.post('/readers', {
      name,
      scan_points: antennas.map((locationId, index) => ({ antenna: index + 1, location_id: locationId })),
    })

  /** Sends reads as a reader. */
  async read(
    token: string,
    reads: readonly { tag: string; antenna: number; observed_at?: string; rssi?: number }[],
  ): Promise<void> {
    const response = await fetch(`${url()}/ingest/v1/reads`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'User-Agent': 'reader' },
      body: JSON.stringify({ reads }),
    })
    if (!response.ok) throw new Error(`reads answered ${response.status}`)
  }

  /** Adds a member to the organization and returns the e-mail address. */
  async member(role: Role): Promise<string> {
    const email = `${role}-${randomBytes(5).toString('hex')}@example.com`
    const { link } = await this.post('/invitations', { email, role })
    const token = new URLSearchParams(new URL(link as string).hash.slice(1)).get('token')
    await call(null, 'POST', '/auth/invitations/accept', { token, password })
    return email
  }

  /** Signs in without the form, by writing the session into the browser's storage. */
  async signIn(page: Page, email = this.email, path = '/'): Promise<void> {
    const { expires_in: seconds, ...session } = await call(null, 'POST', '/auth/login', { email, password })
    await page.goto(`${url()}/mark.svg`)
    await page.evaluate(
      (text) => localStorage.setItem('lastseen.session', text),
      JSON.stringify({ ...session, access_token_expires_at: Date.now() + seconds * 1000 }),
    )
    await page.goto(url() + path)
    await expect(page.getByRole('button', { name: 'Account menu' })).toBeVisible()
  }
}

/** An organization with locations, a reader, assets and past reads. */
export async function warehouse(name = 'Northwind') {
  const org = await Org.create(name)
  const site = await org.location('Riverside', { external_key: 'SITE' })
  const hall = await org.location('Hall A', { external_key: 'HALL-A', parent_id: site.id })
  const dock = await org.location('Dock 1', { external_key: 'DOCK-1', parent_id: site.id })
  const reader = await org.reader('Gate', [hall.id, dock.id])
  const assets = []
  for (let index = 1; index <= 6; index++)
    assets.push(
      await org.asset(`Crate ${index}`, {
        external_key: `CRATE-${index}`,
        tags: [{ tag_type: 'rfid', value: `E2000000000000000000000${index}` }],
      }),
    )
  const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
  const tag = (index: number): string => `E2000000000000000000000${index}`
  await org.read(reader.token, [
    ...[1, 2, 3, 4].map((index) => ({ tag: tag(index), antenna: 1, observed_at: at(180) })),
    ...[1, 2].map((index) => ({ tag: tag(index), antenna: 2, observed_at: at(60) })),
    { tag: tag(1), antenna: 1, observed_at: at(20) },
    { tag: 'E2FFFFFFFFFFFFFFFFFFFFFF', antenna: 1, observed_at: at(5) },
  ])
  return { org, site, hall, dock, reader, assets, tag }
}

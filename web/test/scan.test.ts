import { url, warehouse } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'
import { expectAccessible } from './support/page-checks.ts'

test(
  'A stocktake shows found, elsewhere, missing and unknown assets, and saves',
  { tag: '@phone' },
  async ({ page }) => {
    const { org, hall, tag } = await warehouse()
    await org.post(`/locations/${hall.id}/tags`, { tag_type: 'barcode', value: 'DOOR-A' })
    await org.signIn(page, org.email, '/scan')
    const code = page.getByRole('textbox', { name: 'Code' })
    const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()

    await code.fill('DOOR-A')
    await code.press('Enter')
    await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
    await expect.poll(counts).toEqual(['0', '0', '3', '0'])

    // A hand scanner types anywhere on the page, faster than Playwright can press keys.
    await page.evaluate(
      (keys) => {
        for (const key of keys) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))
      },
      [...tag(1), 'Enter'],
    )
    await expect.poll(counts).toEqual(['1', '0', '2', '0'])
    await code.fill(`CRATE-3; ${tag(2)}, CRATE-6\tNO-SUCH`)
    await code.press('Enter')
    await expect.poll(counts).toEqual(['2', '2', '1', '1'])
    await page.getByRole('tab', { name: /Elsewhere/ }).click()
    await expect(page.getByRole('tabpanel')).toContainText('last at Dock 1')
    await expect(page.getByRole('tabpanel')).toContainText('never seen')
    await page.getByRole('tab', { name: /Missing/ }).click()
    await expect(page.getByRole('tabpanel')).toContainText('Crate 4')
    await expectAccessible(page)

    await page.reload()
    await expect.poll(counts).toEqual(['2', '2', '1', '1'])
    await page.getByRole('tab', { name: /Unknown/ }).click()
    await page.getByRole('button', { name: 'Attach NO-SUCH' }).click()
    const dialog = page.getByRole('dialog')
    await expectAccessible(page, '[role=dialog]')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await expect(dialog).toHaveCount(0)
    await page.getByRole('button', { name: 'Attach NO-SUCH' }).click()
    await dialog.getByText('A new asset').click()
    await dialog.getByLabel('Name').fill('Brand new')
    await dialog.getByRole('button', { name: 'Attach' }).click()
    await expect.poll(counts).toEqual(['2', '3', '1', '0'])

    await page.getByRole('button', { name: 'Save 5 at Hall A' }).click()
    await expect(page.getByText('5 assets are at Hall A now.')).toBeVisible()
    await expect.poll(counts).toEqual(['5', '0', '1', '0'])
    const here = (await org.get(`/reports/asset-locations?location_id=${hall.id}`)) as object[]
    expect(here).toHaveLength(6)
  },
)

test(
  'Without a camera, the scan page shows a message and still accepts typed codes',
  { tag: '@phone' },
  async ({ page }) => {
    const { org, hall } = await warehouse()
    await org.signIn(page, org.email, `/scan?location=${hall.id}`)
    await page.getByRole('button', { name: 'Scan with the camera' }).click()
    await expect(page.getByText(/no camera|not allowed/i)).toBeVisible()
    await expect(page.getByRole('button', { name: 'Scan with the camera' })).toBeVisible()
    expect(page.url()).toBe(`${url()}/scan?location=${hall.id}`)
  },
)

test('Saved assets stay under Found, and a summary states the result of the stocktake', async ({ page }) => {
  const { org, hall, tag } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  const code = page.getByRole('textbox', { name: 'Code' })
  const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()
  await code.fill(`${tag(1)}, ${tag(3)}, CRATE-2, CRATE-5`)
  await code.press('Enter')
  await expect.poll(counts).toEqual(['2', '2', '1', '0'])
  await page.getByRole('button', { name: 'Save 4 at Hall A' }).click()
  await expect(page.getByText('4 assets are at Hall A now.')).toBeVisible()
  await expect.poll(counts).toEqual(['4', '0', '1', '0'])
  const summary = page.getByRole('status', { name: 'Result' })
  await expect(summary).toContainText('2 expected here, 2 from elsewhere, 1 missing.')
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled()

  // Only assets scanned after the save are sent by the next save.
  await code.fill('CRATE-6')
  await code.press('Enter')
  await page.getByRole('button', { name: 'Save 1 at Hall A' }).click()
  await expect(summary).toContainText('5 assets are at Hall A now.')
  await expect.poll(counts).toEqual(['5', '0', '1', '0'])
  await page.reload()
  await expect.poll(counts).toEqual(['5', '0', '1', '0'])
  await expect(summary).toContainText('5 assets are at Hall A now.')
})

test('Scanning the code of another location asks what happens to unsaved assets', async ({ page }) => {
  const { org, hall, dock } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  const code = page.getByRole('textbox', { name: 'Code' })
  const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()
  const enter = async (text: string): Promise<void> => {
    await code.fill(text)
    await code.press('Enter')
  }
  await enter('CRATE-1, CRATE-3')
  await expect.poll(counts).toEqual(['2', '0', '1', '0'])
  await enter('DOCK-1')
  const question = page.getByRole('alert').filter({ hasText: 'Dock 1' })
  await expect(question).toContainText('2 assets are not saved at Hall A yet.')
  await expectAccessible(page, '[role=alert]')
  await question.getByRole('button', { name: 'Stay at Hall A' }).click()
  await expect(question).toHaveCount(0)
  await expect.poll(counts).toEqual(['2', '0', '1', '0'])

  await enter('DOCK-1')
  await question.getByRole('button', { name: 'Save 2 at Hall A' }).click()
  await expect(page).toHaveURL(new RegExp(`location=${dock.id}`))
  await expect.poll(counts).toEqual(['0', '0', '1', '0'])
  const seen = (await org.get(`/assets/${String((await org.get('/assets?external_key=CRATE-3'))[0].id)}/history`)) as {
    location_external_key: string
  }[]
  expect(JSON.stringify(seen[0])).toContain('HALL-A')

  await enter('CRATE-4')
  await expect.poll(counts).toEqual(['0', '1', '1', '0'])
  await page.getByRole('combobox', { name: 'Location' }).fill('Hall')
  await page.getByRole('option', { name: /Hall A/ }).click()
  await page.getByRole('button', { name: 'Discard 1 code' }).click()
  await expect(page).toHaveURL(new RegExp(`location=${hall.id}`))
  await expect.poll(counts).toEqual(['0', '0', '3', '0'])
})

test('A hand scanner that pauses within a code is understood, and a stray key before it is not part of the code', async ({
  page,
}) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await expect(page.getByRole('status', { name: 'Last scan' })).toHaveText('Ready to scan')
  await page.keyboard.type('x')
  await page.waitForTimeout(1200)
  await page.keyboard.type('CRA')
  await page.waitForTimeout(400)
  await page.keyboard.type('TE-5\n')
  await expect(page.getByRole('status', { name: 'Last scan' })).toContainText('Crate 5')
})

/** Runs in the page: collects the frequencies of all tones. */
function recordTones(): void {
  const tones: number[] = []
  Object.assign(globalThis, { tones })
  const start = OscillatorNode.prototype.start
  OscillatorNode.prototype.start = function (when) {
    tones.push(this.frequency.value)
    start.call(this, when)
  }
}

test(
  'The last scan is shown large with its outcome, and the tab that received the code opens',
  { tag: '@phone' },
  async ({ page }, { project }) => {
    const { org, hall } = await warehouse()
    await page.addInitScript(recordTones)
    await org.signIn(page, org.email, '/')
    // On a phone, Scan is at the lower edge, in reach of the thumb.
    if (project.name === 'phone') {
      const link = page.getByRole('navigation', { name: 'Quick links' }).getByRole('link', { name: 'Scan' })
      expect((await link.boundingBox())!.y).toBeGreaterThan(600)
      await link.click()
      await expect(page.getByRole('heading', { level: 1, name: 'Scan' })).toBeVisible()
    }
    await page.goto(`${url()}/scan?location=${hall.id}`)
    const last = page.getByRole('status', { name: 'Last scan' })
    await expect(last).toHaveText('Ready to scan')
    const scan = async (code: string, text: string, tab: RegExp, outcome: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Code' }).fill(code)
      await page.getByRole('textbox', { name: 'Code' }).press('Enter')
      await expect(last).toHaveText(text)
      await expect(page.getByRole('tab', { name: tab })).toHaveAttribute('aria-selected', 'true')
      await expect(page.locator('.last-scan')).toHaveAttribute('data-outcome', outcome)
    }
    await scan('CRATE-2', 'Crate 2Elsewhere, last at Dock 1', /Elsewhere/, 'elsewhere')
    await scan('NO-SUCH', 'NO-SUCHUnknown code', /Unknown/, 'unknown')
    await scan('CRATE-1', 'Crate 1Found here', /Found/, 'found')
    await expectAccessible(page)
    await page.getByRole('tab', { name: /Missing/ }).click()
    await scan('CRATE-1', 'Crate 1Found here', /Found/, 'found')
    const tones = () => page.evaluate(() => (globalThis as unknown as { tones: number[] }).tones)
    expect(await tones()).toEqual([880, 1175, 330, 247, 1320, 1320])
    await page.getByRole('button', { name: 'Turn the sound off' }).click()
    await scan('CRATE-2', 'Crate 2Elsewhere, last at Dock 1', /Elsewhere/, 'elsewhere')
    expect(await tones()).toHaveLength(6)
    await page.reload()
    await expect(page.getByRole('button', { name: 'Turn the sound on' })).toBeVisible()
  },
)

test('Clear on the scan page can be undone', async ({ page }) => {
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()
  await page.getByRole('textbox', { name: 'Code' }).fill('CRATE-1, CRATE-2, NO-SUCH')
  await page.getByRole('textbox', { name: 'Code' }).press('Enter')
  await expect.poll(counts).toEqual(['1', '1', '2', '1'])
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect.poll(counts).toEqual(['0', '0', '3', '0'])
  await page.getByRole('button', { name: 'Undo' }).click({ timeout: 15_000 })
  await expect.poll(counts).toEqual(['1', '1', '2', '1'])
})

test('A code scanned while the server is away is shown as waiting and is sent later', async ({ page }) => {
  allowErrors(/net::ERR_FAILED.*codes\/resolve/)
  const { org, hall } = await warehouse()
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  const code = page.getByRole('textbox', { name: 'Code' })
  const counts = async (): Promise<string[]> => page.locator('[data-count]').allInnerTexts()
  await code.fill('CRATE-1')
  await code.press('Enter')
  await expect.poll(counts).toEqual(['1', '0', '2', '0'])
  await page.route('**/api/v1/codes/resolve', (route) => route.abort())
  await code.fill('CRATE-3')
  await code.press('Enter')
  const waiting = page.getByRole('status', { name: 'Waiting codes' })
  await expect(waiting).toContainText('1 waiting', { timeout: 30_000 })
  await expect(waiting).toContainText('CRATE-3')
  await expect(page.getByRole('alert')).toContainText('No connection')
  expect(await counts()).toEqual(['1', '0', '2', '0'])
  await page.unroute('**/api/v1/codes/resolve')
  await expect.poll(counts).toEqual(['2', '0', '1', '0'])
  await expect(waiting).toHaveCount(0)
})

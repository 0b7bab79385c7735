import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchOptions } from './support/browser.ts'
import { cameraVideo } from './support/camera-video.ts'
import { warehouse } from './support/org.ts'
import { expect, test } from './support/test.ts'

const folder = mkdtempSync(join(tmpdir(), 'lastseen-video-'))
const video = join(folder, 'labels.y4m')

test.use({
  permissions: ['camera'],
  launchOptions: launchOptions(
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-video-capture=${video}`,
  ),
})

test.beforeAll(() => {
  const labels = [
    ['qr', 'CRATE-1'],
    ['code128', 'CRATE-3'],
  ] as const
  writeFileSync(
    video,
    cameraVideo(
      labels.map(([symbology, text]) => [symbology, text]),
      20,
    ),
  )
})
test.afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('The camera reads the printed QR and Code 128 labels, each once', { tag: '@phone' }, async ({ page }) => {
  const { org, hall } = await warehouse()
  // The fake camera has no light, so the test gives it one, and records the signals.
  await page.addInitScript(() => {
    const signals: unknown[] = []
    Object.assign(window, { signals })
    navigator.vibrate = (pattern) => signals.push(pattern) > 0
    MediaStreamTrack.prototype.getCapabilities = () => ({ torch: true }) as MediaTrackCapabilities
    MediaStreamTrack.prototype.applyConstraints = async (given) => void signals.push(given?.advanced?.[0])
  })
  await org.signIn(page, org.email, `/scan?location=${hall.id}`)
  await page.getByRole('button', { name: 'Scan with the camera' }).click()
  await expect(page.getByLabel('Camera')).toBeVisible()
  const found = page.getByRole('tab', { name: /Found/ })
  await expect(found).toContainText('2')
  await found.click()
  await expect(page.getByRole('tabpanel')).toContainText('Crate 1')
  await expect(page.getByRole('tabpanel')).toContainText('Crate 3')
  const signals = () => page.evaluate(() => (window as unknown as { signals: unknown[] }).signals)
  expect((await signals())[0]).toEqual([40])
  await page.getByRole('button', { name: 'Light' }).click()
  await expect(page.getByRole('button', { name: 'Light' })).toHaveAttribute('aria-pressed', 'true')
  expect(await signals()).toContainEqual({ torch: true })
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight))
  await expect(page.getByLabel('Camera')).toBeInViewport({ ratio: 0.9 })
  await page.getByRole('button', { name: 'Stop the camera' }).click()
  await expect(page.getByLabel('Camera')).toHaveCount(0)
  expect(await page.locator('[data-count]').allInnerTexts()).toEqual(['2', '0', '1', '0'])
})

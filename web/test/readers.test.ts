import { Org, url } from './support/org.ts'
import { expect, test } from './support/test.ts'

test('The form of a reader keeps what another user has changed meanwhile', async ({ page }) => {
  const org = await Org.create()
  const [hall, dock] = [await org.location('Hall'), await org.location('Dock')]
  const reader = await org.reader('Gate', [hall.id, null, null])
  await org.signIn(page, org.email, `/readers/${reader.id}`)
  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Location of antenna 2').fill('Dock')
  await page.getByRole('option', { name: /Dock/ }).click()
  await dialog.getByRole('button', { name: 'Remove antenna 3' }).click()
  // Another tab renames the reader and moves its first antenna.
  const points = [dock.id, null, hall.id].map((location_id, index) => ({ antenna: index + 1, location_id }))
  await org.patch(`/readers/${reader.id}`, { name: 'North gate', scan_points: points })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toHaveCount(0)
  const saved = (await org.get(`/readers/${reader.id}`)) as {
    name: string
    scan_points: { antenna: number; location_id: number | null }[]
  }
  expect(saved.name).toBe('North gate')
  expect(saved.scan_points.map((one) => [one.antenna, one.location_id])).toEqual([
    [1, dock.id],
    [2, dock.id],
  ])
})

test('A page beyond the end of a list leads to the last page and never says that the list is empty', async ({
  page,
}) => {
  const org = await Org.create()
  await org.reader('Gate', [null])
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(window, { seen })
    const watch = new MutationObserver(() => {
      if (/No (readers|keys) yet/.test(document.body?.innerText ?? '')) seen.push(location.href)
    })
    watch.observe(document, { subtree: true, childList: true })
  })
  await org.signIn(page, org.email, '/readers?page=99')
  await expect(page).toHaveURL(`${url()}/readers`)
  await expect(page.getByRole('table', { name: 'Readers' })).toContainText('Gate')
  expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([])
})

test('The page of the inbox is in the URL', async ({ page }) => {
  const org = await Org.create()
  const reader = await org.reader('Gate', [null])
  await org.read(
    reader.token,
    Array.from({ length: 30 }, (_, index) => ({ tag: `E28011${String(index).padStart(18, '0')}`, antenna: 1 })),
  )
  await org.signIn(page, org.email, '/readers/inbox')
  await page.getByRole('button', { name: 'next page' }).click()
  await expect(page).toHaveURL(/page=2/)
  await page.reload()
  await expect(page.getByText('26–30 of 30 tags')).toBeVisible()
})

test('The choices of the labels page are in the URL', async ({ page }) => {
  const org = await Org.create()
  for (let index = 1; index <= 3; index++) await org.asset(`Ladder ${index}`)
  await org.signIn(page, org.email, '/labels')
  await page.getByLabel('Filter').fill('ladder')
  await page.getByText('Code 128', { exact: true }).click()
  await page.getByLabel('Maximum number of labels').fill('2')
  await expect(page).toHaveURL(/q=ladder/)
  await expect(page).toHaveURL(/code=code128/)
  await page.reload()
  await expect(page.getByLabel('Filter')).toHaveValue('ladder')
  await expect(page.getByRole('radio', { name: 'Code 128' })).toBeChecked()
  await expect(page.getByText('Labels for the first 2 of 3 assets.')).toBeVisible()
})

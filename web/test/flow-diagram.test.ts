import type { Page } from '@playwright/test'
import { labelHeight, sankeyLayout } from '../src/features/reports/sankey.ts'
import { fitText } from '../src/lib/fit-text.ts'
import { Org } from './support/org.ts'
import { expectAccessible } from './support/page-checks.ts'
import { expect, test } from './support/test.ts'

const tenPerLetter = (text: string): number => [...text].length * 10

test('A text that is too long for a width keeps its beginning and its end', () => {
  expect(fitText('Rack A1', 70, tenPerLetter)).toBe('Rack A1')
  expect(fitText('Receiving hall, rack 12', 119, tenPerLetter)).toBe('Recei…ck 12')
  expect(fitText('Dock 🚚🚚🚚', 50, tenPerLetter)).toBe('Do…🚚🚚')
  expect(fitText('Rack A1', 25, tenPerLetter)).toBe('R…')
  expect(fitText('Rack A1', 15, tenPerLetter)).toBe('')
})

test('In a flow diagram, neighbours have the distance of a label, however thin they are', () => {
  const flow = (from: number | null, to: number, moves: number) => ({
    from_location_id: from,
    from_name: null,
    to_location_id: to,
    to_name: '',
    moves,
  })
  const many = Array.from({ length: 24 }, (_, index) => flow(index, 23 - index, index === 0 ? 100_000 : 1))
  const fan = Array.from({ length: 24 }, (_, index) => flow(null, index, 1))
  for (const flows of [many, fan, [flow(null, 1, 1)]]) {
    const { nodes, height } = sankeyLayout(flows, [100, 300])
    for (const isSource of [true, false]) {
      const centers = nodes
        .filter((node) => node.isSource === isSource)
        .map(({ y0 = 0, y1 = 0 }) => (y0 + y1) / 2)
        .sort((a, b) => a - b)
      expect(centers[0]).toBeGreaterThanOrEqual(0)
      expect(centers.at(-1)).toBeLessThanOrEqual(height)
      for (const [index, center] of centers.slice(1).entries())
        expect(center - centers[index]!).toBeGreaterThanOrEqual(labelHeight - 0.01)
    }
  }
})

/** The texts of the diagram that overlap another one or leave the diagram's card. Runs in the page. */
function misplacedLabels(): string[] {
  const svg = document.querySelector('[role=group] > svg.chart')!
  const labels = [...svg.querySelectorAll('text')].map((one) => ({
    text: one.textContent,
    box: one.getBoundingClientRect(),
  }))
  const frame = svg.getBoundingClientRect()
  const outside = labels.filter(
    ({ text, box }) =>
      text === '' ||
      box.left < frame.left - 1 ||
      box.right > frame.right + 1 ||
      box.top < frame.top - 1 ||
      box.bottom > frame.bottom + 1,
  )
  const overlapping = labels.filter(({ box }, index) =>
    labels.some(
      (other, at) =>
        at > index &&
        Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left) > 0 &&
        Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top) > 1,
    ),
  )
  return [...outside, ...overlapping].map(({ text }) => text)
}

const openFlow = async (page: Page, org: Org): Promise<void> => {
  await org.signIn(page, org.email, '/reports?tab=flow&level=all')
  await expect(page.getByRole('group', { name: /Moves between locations/ })).toBeVisible()
}

test(
  'Labels of a flow diagram with many long names neither overlap nor are cut off, and are shown whole on hover and focus',
  { tag: '@phone' },
  async ({ page }) => {
    const org = await Org.create()
    const count = 12
    const nameOf = (index: number): string => `WAREHOUSE NORTHWEST, MEZZANINE WITH WMW MEMORY MODULES, RACK ${index}`
    const racks = []
    for (let index = 1; index <= count; index++) racks.push(await org.location(nameOf(index)))
    const reader = await org.reader(
      'Gates',
      racks.map((one) => one.id),
    )
    const tagOf = (index: number): string => `E200000000000000000000${String(index).padStart(2, '0')}`
    for (let index = 1; index <= count; index++)
      await org.asset(`Crate ${index}`, { tags: [{ tag_type: 'rfid', value: tagOf(index) }] })
    const at = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
    // Each crate moves once to the next rack, and the first many times between two of them: all other nodes are thin.
    await org.read(reader.token, [
      ...racks.flatMap((_, index) => [
        { tag: tagOf(index + 1), antenna: index + 1, observed_at: at(120) },
        { tag: tagOf(index + 1), antenna: ((index + 1) % count) + 1, observed_at: at(110) },
      ]),
      ...Array.from({ length: 60 }, (_, index) => ({
        tag: tagOf(1),
        antenna: 1 + (index % 2),
        observed_at: at(100 - index),
      })),
    ])
    await openFlow(page, org)
    await expect.poll(() => page.evaluate(misplacedLabels)).toEqual([])

    const last = page.getByRole('img', { name: `From ${nameOf(count)}: 1 move`, exact: true })
    await expect(last.locator('text')).toHaveText(new RegExp(`^W.*….*${count}$`))
    const whole = page.getByRole('tooltip', { name: `From ${nameOf(count)}: 1 move`, exact: true })
    await last.locator('text').hover()
    await expect(whole).toBeVisible()
    await page.mouse.move(0, 0)
    await expect(whole).toBeHidden()
    await last.focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Shift+Tab')
    await expect(last).toBeFocused()
    await expect(whole).toBeVisible()
    await expectAccessible(page)
  },
)

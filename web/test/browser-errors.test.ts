import { url } from './support/org.ts'
import { allowErrors, expect, test } from './support/test.ts'

const signIn = (): string => `${url()}/sign-in`

test.fail('A test fails when a page writes an error to the console', async ({ page }) => {
  await page.goto(signIn())
  await page.evaluate(() => console.error('on purpose'))
})

test.fail('A test fails when a page has an uncaught exception', async ({ anotherBrowser }) => {
  const page = await anotherBrowser()
  await page.goto(signIn())
  const thrown = page.waitForEvent('pageerror')
  await page.evaluate(() => void Promise.reject(new Error('on purpose')))
  await thrown
})

test('A test can name the errors that it causes', async ({ page }) => {
  allowErrors(/on purpose/)
  await page.goto(signIn())
  await page.evaluate(() => console.error('on purpose'))
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible()
})

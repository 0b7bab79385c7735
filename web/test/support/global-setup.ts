import { startServer } from './server-process.ts'

/** One server for all tests; each makes an organization of its own. */
export default async function start(): Promise<() => Promise<void>> {
  const program = await startServer()
  process.env['BROWSER_TEST_URL'] = program.url
  process.env['BROWSER_TEST_LOG'] = program.log
  return () => program.stop()
}

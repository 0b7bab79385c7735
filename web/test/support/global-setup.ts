import { startServer } from './server-process.ts'

/** Starts one server for all tests; each test creates its own organization. */
export default async function start(): Promise<() => Promise<void>> {
  const server = await startServer()
  process.env['BROWSER_TEST_URL'] = server.url
  process.env['BROWSER_TEST_LOG'] = server.log
  return () => server.stop()
}

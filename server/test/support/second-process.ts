import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { RunStatement } from './statements.ts'

const script = fileURLToPath(new URL('./second-process.mjs', import.meta.url))

/** Starts the second process of a run with `TEST_PROCESSES=2`. */
export async function startSecondProcess(): Promise<{ url: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [port] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    url: `http://127.0.0.1:${Number(port.toString())}`,
    async stop() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}

async function call<Answer>(secondProcessUrl: string, path: string, body: object): Promise<Answer> {
  const reply = await fetch(`${secondProcessUrl}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`the second process could not ${path}: ${text}`)
  return JSON.parse(text) as Answer
}

/** A server of the second process on this database, and what is to be done with every statement that it ran. */
export async function openServerInSecondProcess(
  secondProcessUrl: string,
  url: string,
  settings: Record<string, string>,
  check: (statement: RunStatement) => void,
): Promise<{ port: number; close(): Promise<void> }> {
  const { port } = await call<{ port: number }>(secondProcessUrl, '/open', { url, settings })
  return {
    port,
    async close() {
      const statements = await call<RunStatement[]>(secondProcessUrl, '/close', { port })
      statements.forEach(check)
    },
  }
}

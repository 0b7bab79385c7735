import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { TestOrg } from '../../../server/test/support/app.ts'
import { newKey } from './clients.ts'

const entry = fileURLToPath(new URL('../../bin/lastseen.mjs', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

interface RunOptions {
  env?: Record<string, string>
  input?: string
  command?: [string, ...string[]]
  cwd?: string
}

/** A folder that goes away with the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-cli-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the command line as it is shipped, to its end. */
export function run(
  args: string[],
  { env = {}, input = '', command = [process.execPath, entry], cwd }: RunOptions = {},
): Promise<Ended> {
  const [file, ...first] = command
  const child = spawn(file, [...first, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const ended: Ended = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...ended, code })))
}

/** The command line for one organization, with a credential of its own. */
export async function cliOf(org: TestOrg, home: string, scopes?: readonly string[]) {
  const { clientId, clientSecret } = await newKey(org, scopes)
  const env = {
    HOME: home,
    LASTSEEN_URL: org.app.url,
    LASTSEEN_CLIENT_ID: clientId,
    LASTSEEN_CLIENT_SECRET: clientSecret,
  }
  return {
    env,
    run: (...args: string[]): Promise<Ended> => run(args, { env }),
    /** The one JSON document that a command printed; it must have succeeded. */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    async json(...args: string[]): Promise<any> {
      const ended = await run([...args, '--json'], { env })
      if (ended.code !== 0) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`)
      return JSON.parse(ended.stdout)
    },
  }
}

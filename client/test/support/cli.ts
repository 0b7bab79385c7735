import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'
import type { TestOrg } from '../../../server/test/support/app.ts'
import { newKey } from './clients.ts'

const entry = fileURLToPath(new URL('../../bin/lastseen.mjs', import.meta.url))

/** The exit code and the output of a process. */
export interface ProcessResult {
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

/** A temporary folder that is deleted after the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-cli-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the built command line and resolves when it exits. */
export function run(
  args: string[],
  { env = {}, input = '', command = [process.execPath, entry], cwd }: RunOptions = {},
): Promise<ProcessResult> {
  const [file, ...first] = command
  const child = spawn(file, [...first, ...args], {
    env: { PATH: process.env['PATH'], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const result: ProcessResult = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (result.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (result.stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ ...result, code })))
}

/** The command line with a new credential of an organization. */
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
    run: (...args: string[]): Promise<ProcessResult> => run(args, { env }),
    /** Runs a command with --json and returns its output. Throws when the command fails. */
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    async json(...args: string[]): Promise<any> {
      const result = await run([...args, '--json'], { env })
      if (result.code !== 0) throw new Error(`${args.join(' ')} exited with ${result.code}: ${result.stderr}`)
      return JSON.parse(result.stdout)
    },
  }
}

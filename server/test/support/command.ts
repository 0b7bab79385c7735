import { runProgram } from '../../src/cli/program.ts'
import { type ExitResult, type Environment, cleanEnvironment } from './process.ts'

/**
 * Runs a command to its end as `main.ts` does, but in the process of the test, because starting the program takes far
 * longer than the command itself. Commands run one at a time: they share the environment and the output of the process.
 */
export async function runCommand(args: string[], settings: Environment): Promise<ExitResult> {
  const printed = { stdout: '', stderr: '' }
  const { env } = process
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write }
  const listeners = process.stdout.listeners('error')
  process.env = cleanEnvironment(settings)
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (chunk: string | Uint8Array): boolean => {
      printed[name] += String(chunk)
      return true
    }
  try {
    const code = await runProgram(['node', 'lastseen', ...args])
    return { code, signal: null, ...printed }
  } finally {
    process.env = env
    for (const name of ['stdout', 'stderr'] as const) process[name].write = writes[name]
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
  }
}

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Asks a person at the terminal; what they type is not shown when it is a secret. */
export function ask(question: string, { isSecret = false } = {}): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isSecret ? silent : process.stderr,
    terminal: isSecret,
  })
  return new Promise((resolve) => {
    lines.once('close', () => resolve(''))
    lines.once('line', (line) => {
      resolve(line.trim())
      lines.close()
      if (isSecret) process.stderr.write('\n')
    })
  })
}

/** The first line of standard input. */
export async function firstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return text.split(/\r?\n/)[0]!.trim()
}

export const isAtTerminal = (): boolean => process.stdin.isTTY && process.stderr.isTTY

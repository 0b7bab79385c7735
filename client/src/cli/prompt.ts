import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'

/** Prompts at the terminal and returns the line that was typed. A secret is not echoed. */
export function prompt(question: string, { isSecret = false } = {}): Promise<string> {
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

/** Reads all of standard input and returns its first line. */
export async function readFirstLine(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return text.split(/\r?\n/)[0]!.trim()
}

/** Whether a person at a terminal can answer a prompt. */
export const isInteractive = (): boolean => process.stdin.isTTY && process.stderr.isTTY

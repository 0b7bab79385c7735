import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { PageOutput } from './page-output.ts'
import { type Block, type Page, commandsOf } from './pages.ts'
import { lacks } from './packaging.ts'
import { cleanEnvironment, newFolder, repository } from './process.ts'

/** The values that a reader of a page has when following it. */
export interface PageReader {
  /** The port of the server, which replaces the port 8080 of the pages. */
  port: string
  /** The values for placeholders such as `CLIENT_ID=…`. */
  blanks: Record<string, string>
  settings: Record<string, string>
  /** Runs the CLI directly, which saves the start-up time of npm for each command. */
  withoutNpx?: boolean
}

const pagePort = '8080'
const pageMqttPort = '-p 1883'

/** Whether the machine lacks the program of a block: Debian's package mosquitto-clients is optional. */
const cannotRun = ({ text }: Block): boolean => text.startsWith('mosquitto_pub ') && lacks('/usr/bin/mosquitto_pub')

/** Replaces each placeholder `NAME=…` by its value. */
const filled = (text: string, blanks: Record<string, string>): string =>
  text.replaceAll(/^(\w+)=…/gm, (_, name: string) => {
    if (blanks[name] === undefined) throw new Error(`No value is given for ${name}`)
    return `${name}=${blanks[name]}`
  })

export const showsErrorStatus = ({ output }: Block): boolean =>
  output?.language !== 'json' && /^HTTP\/1\.1 [45]|^… [45]\d\d$/m.test(output?.text ?? '')

/** Whether the page itself passes -f to curl, which cannot be combined with fail-with-body. */
const isStrict = ({ text }: Block): boolean => /\bcurl [^|]*-f /.test(text)

/** curl as on the reader's machine, except that it fails on an error status that the page does not show. */
function curlSettings(folder: string): void {
  const always = ['silent', 'show-error', 'noproxy = "*"', 'max-time = 20']
  for (const kind of ['strict', 'lenient']) {
    mkdirSync(join(folder, kind))
    const lines = kind === 'strict' ? [...always, 'fail-with-body'] : always
    writeFileSync(join(folder, kind, '.curlrc'), `${lines.join('\n')}\n`)
  }
}

/** `lastseen`, as the npm package installs it. */
function installCommand(folder: string): void {
  mkdirSync(join(folder, 'bin'))
  symlinkSync(join(repository, 'server/bin/lastseen.mjs'), join(folder, 'bin/lastseen'))
}

/** `npx lastseen …` in the repository runs the same file. */
const npxAsFunction = 'npx() { shift; node server/bin/lastseen.mjs "$@"; }'

const mark = '\u001e'

/** Returns one script, so that a block can use the variables of earlier blocks. */
function scriptOf(blocks: readonly Block[], folder: string, reader: PageReader): string {
  const { blanks, port, settings, withoutNpx = false } = reader
  const parts = blocks.map((block, index) => {
    const home = join(folder, showsErrorStatus(block) || isStrict(block) ? 'lenient' : 'strict')
    const text = filled(block.text, blanks)
      .replaceAll(`localhost:${pagePort}`, `localhost:${port}`)
      .replaceAll(pageMqttPort, `-p ${settings['LASTSEEN_MQTT_PORT']}`)
    return `printf '\\n${mark}%s\\n' ${index}\nexport CURL_HOME='${home}'\n${text}`
  })
  return [
    'set -euo pipefail',
    `export PATH="${folder}/bin:$PATH"`,
    ...(withoutNpx ? [npxAsFunction] : []),
    ...parts,
    '',
  ].join('\n')
}

function bash(
  script: string,
  settings: Record<string, string>,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child: ChildProcess = spawn('bash', [script], {
    cwd: repository,
    env: cleanEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (text: string) => (said[name] += text))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...said })))
}

/** Runs the blocks in one shell, top to bottom, and compares their output with the output on the page. */
export async function runPage(page: Page, reader: PageReader, first: readonly Block[] = []): Promise<void> {
  const folder = newFolder()
  curlSettings(folder)
  installCommand(folder)
  const blocks = [...first, ...commandsOf(page)].filter((block) => !cannotRun(block))
  const script = join(folder, 'page.sh')
  writeFileSync(script, scriptOf(blocks, folder, reader))
  // The command line client keeps its credential in this folder instead of the home folder of the test's user.
  const { code, stdout, stderr } = await bash(script, { ...reader.settings, XDG_CONFIG_HOME: folder })
  const printed = stdout
    .replaceAll(`:${reader.port}`, `:${pagePort}`)
    .split(new RegExp(`\\n${mark}\\d+\\n`))
    .slice(1)
  const last = blocks[printed.length - 1]
  expect(code, `${page.name}, the block in line ${last?.line}, failed:\n${printed.at(-1)}\n${stderr}`).toBe(0)
  const output = new PageOutput()
  for (const [index, block] of blocks.entries())
    if (block.output !== null && !first.includes(block))
      output.expectMatch(block.output, printed[index]!, `${page.name}, the block in line ${block.line}`)
}

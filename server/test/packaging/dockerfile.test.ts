import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { repository } from '../support/process.ts'

interface Instruction {
  name: string
  rest: string
}

/** The instructions of a Dockerfile, by stage. Continued lines are joined; comments are left out. */
function stagesOf(text: string): Instruction[][] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const instructions = lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.split(' ')[0]!, rest: line.slice(line.indexOf(' ') + 1) }))
  const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []))
  return starts.map((start, index) => instructions.slice(start, starts[index + 1]))
}

/** The arguments before the first stage, such as the name of the base image. */
const baseArguments = (text: string): Map<string, string> =>
  new Map([...text.split(/^FROM /m)[0]!.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name!, value!]))

/** The commands of all RUN instructions. */
const commandsOf = (stages: Instruction[][]): string[] =>
  of(stages, 'RUN').flatMap((rest) => rest.split(/&&|\|\||;|\|/).map((command) => command.trim()))

const of = (stages: Instruction[][], name: string): string[] =>
  stages.flat().flatMap((one) => (one.name === name ? [one.rest] : []))

/** The rules of hadolint that apply to a Dockerfile like ours: what each forbids, with its number. */
const rules: Record<string, (stages: Instruction[][], text: string) => string[]> = {
  'a base image without a digest, or with the tag latest (DL3006, DL3007)': (stages, text) => {
    const names = stages.flatMap(([from]) => (from!.name === 'FROM' ? [from!.rest.split(' ')[0]!] : []))
    const bases = names.map((name) =>
      name.replace(/^\$\{(\w+)\}$/, (all, key: string) => baseArguments(text).get(key) ?? all),
    )
    return bases.filter((base) => !/^[^:@]+:(?!latest)[\w.-]+@sha256:[0-9a-f]{64}$/.test(base))
  },
  'a relative WORKDIR (DL3000)': (stages) => of(stages, 'WORKDIR').filter((path) => !path.startsWith('/')),
  'a last user that is root, or none (DL3002)': (stages) => {
    const last = of([stages.at(-1)!], 'USER').at(-1) ?? 'none'
    return ['root', '0', 'none'].filter((user) => user === last.split(':')[0])
  },
  'ADD for files, which COPY copies (DL3020)': (stages) => of(stages, 'ADD'),
  'CMD or ENTRYPOINT in the form of the shell, which receives no signals (DL3025)': (stages) =>
    ['CMD', 'ENTRYPOINT'].flatMap((name) => of(stages, name)).filter((rest) => !/^\[".*"\]$/.test(rest)),
  'more than one CMD, ENTRYPOINT or HEALTHCHECK in a stage (DL4003, DL4004, DL3012)': (stages) =>
    stages.flatMap((stage) =>
      ['CMD', 'ENTRYPOINT', 'HEALTHCHECK'].filter((name) => stage.filter((one) => one.name === name).length > 1),
    ),
  'no health check': (stages) => (of([stages.at(-1)!], 'HEALTHCHECK').length === 0 ? ['HEALTHCHECK'] : []),
  'sudo (DL3004)': (stages) => commandsOf(stages).filter((command) => command.startsWith('sudo ')),
  'cd instead of WORKDIR (DL3003)': (stages) => commandsOf(stages).filter((command) => command.startsWith('cd ')),
  'apt-get that installs recommended packages or asks questions (DL3014, DL3015)': (stages) =>
    commandsOf(stages).filter(
      (command) => /^apt-get .*install/.test(command) && !/(?=.* -y)(?=.* --no-install-recommends)/.test(command),
    ),
  'lists of packages that stay in a layer (DL3009)': (stages) =>
    of(stages, 'RUN').filter((rest) => rest.includes('apt-get update') && !rest.includes('rm -rf /var/lib/apt/lists/')),
  'apt instead of apt-get (DL3027)': (stages) => commandsOf(stages).filter((command) => command.startsWith('apt ')),
  'a stage that COPY --from names and that does not exist (DL3022)': (stages) => {
    const names = stages.flatMap(([from]) => / AS (\w+)$/.exec(from!.rest)?.[1] ?? [])
    return of(stages, 'COPY').filter(
      (rest) => /^--from=/.test(rest) && !names.includes(/^--from=(\w+)/.exec(rest)![1]!),
    )
  },
}

const findings = (text: string): string[] =>
  Object.entries(rules).flatMap(([name, check]) => (check(stagesOf(text), text).length > 0 ? [name] : []))

describe('The Dockerfile has no', () => {
  const text = readFileSync(join(repository, 'Dockerfile'), 'utf8')

  it.each(Object.entries(rules))('%s', (_rule, check) => {
    expect(check(stagesOf(text), text)).toEqual([])
  })
})

it('Each rule finds its fault in a Dockerfile that breaks all of them', () => {
  const broken = [
    'FROM debian:latest AS build',
    'WORKDIR app',
    'ADD . .',
    'RUN cd /app && sudo make \\',
    '  && apt-get update \\',
    '  && apt-get install curl',
    'RUN apt install git',
    'FROM debian',
    'COPY --from=builder /app /app',
    'USER root',
    'CMD node a.js',
    'CMD ["node", "b.js"]',
    '',
  ].join('\n')
  expect(findings(broken)).toEqual(Object.keys(rules))
})

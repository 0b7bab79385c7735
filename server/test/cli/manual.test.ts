import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { newProgram } from '../../src/cli/program.ts'
import { repository } from '../support/process.ts'

const manual = readFileSync(join(repository, 'docs/operating/commands.md'), 'utf8')
/** The commands in the first column of the manual's table, each with its options. */
const output = manual
  .slice(manual.indexOf('# Operator commands'))
  .split('\n')
  .flatMap((line) => [...(/^\| (`.+`) \| /.exec(line)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, text]) => text!))

const leaves = (command: Command, path: string[] = []): [string, Command][] =>
  command.commands.length === 0
    ? [[path.join(' '), command]]
    : command.commands.flatMap((one) => leaves(one, [...path, one.name()]))

describe('The manual', () => {
  it('lists every command with all its options', () => {
    const common = ['--json', '--init']
    const known = leaves(newProgram()).map(([name, { options }]) => {
      const flags = options.map((option) => option.long!).filter((flag) => !common.includes(flag))
      return [name, flags.sort()]
    })
    const listed = output.map((text) => [
      /^[a-z-]+( [a-z][a-z-]*)?/.exec(text)![0],
      (text.match(/--[a-z-]+/g) ?? []).sort(),
    ])
    expect(listed.sort()).toEqual(known.sort())
  })
})

describe('Every command', () => {
  it.each(leaves(newProgram()))('%s and each of its options have a help text', (_name, command) => {
    expect(command.description()).not.toBe('')
    for (const option of command.options) expect(option.description, option.flags).not.toBe('')
  })
})

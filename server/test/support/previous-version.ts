import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, repository } from './process.ts'

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The commit before the last change of the schema, or null without the history, as in a shallow clone. */
export function previousCommit(): string | null {
  try {
    const last = git('log', '-1', '--format=%H', '--', 'server/migrations')
    return last === '' ? null : git('rev-parse', '--verify', `${last}^`)
  } catch {
    return null
  }
}

/** Builds the server of a commit, with the installed packages, and returns the file that starts it. */
export function buildCommit(commit: string): string {
  const folder = newFolder()
  const archive = join(folder, 'source.tar')
  git('archive', '--output', archive, commit, 'server', 'client', 'package.json', 'tsconfig.base.json')
  const source = join(folder, 'source')
  mkdirSync(source)
  execFileSync('tar', ['-xf', archive, '-C', source])
  for (const modules of ['node_modules', 'server/node_modules'])
    if (existsSync(join(repository, modules))) symlinkSync(join(repository, modules), join(source, modules))
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const flags = ['--noCheck', '--incremental', 'false', '--tsBuildInfoFile', 'null']
  execFileSync(process.execPath, [compiler, '-p', 'server', '--outDir', 'server/dist', ...flags], { cwd: source })
  return join(source, 'server/dist/main.js')
}

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, repository } from './process.ts'

const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/**
 * The commit before the last change of the schema, or the commit of that change itself, if the schema before it cannot be
 * upgraded: the baseline was new. Null if there is no such commit, as in a shallow clone.
 */
export function previousCommit(): string | null {
  try {
    const last = git('log', '-1', '--format=%H', '--', 'server/migrations')
    return [`${last}^`, last].map((name) => git('rev-parse', '--verify', name)).find(isUpgradable) ?? null
  } catch {
    return null
  }
}

/** All numbered migrations of the commit are still there and unchanged, so this version can upgrade its schema. */
function isUpgradable(commit: string): boolean {
  const numbered = ':(glob)server/migrations/*.sql'
  return git('diff', '--name-only', '--no-renames', '--diff-filter=a', commit, '--', numbered) === ''
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

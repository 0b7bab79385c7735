import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { repository } from './process.ts'

const promtoolFile = '/usr/bin/promtool'
export const prometheusFile = '/usr/bin/prometheus'

/** Tests of Prometheus are skipped on a machine without Debian's package, except in CI. */
export const isPrometheusMissing = !existsSync(promtoolFile) && process.env['CI'] === undefined

/** Runs promtool and returns its exit code with its whole output. */
export function promtool(args: string[], input = ''): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(promtoolFile, args, { input, encoding: 'utf8', timeout: 60_000 })
  return { code: status, output: stdout + stderr }
}

export const rulesFolder = join(repository, 'packaging/prometheus')

export interface AlertRule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string }
}

/** The rules of packaging/prometheus/alerts.yml. */
export function alertRules(): AlertRule[] {
  const { groups } = parse(readFileSync(join(rulesFolder, 'alerts.yml'), 'utf8')) as {
    groups: { rules: AlertRule[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

/** The queries of all panels of packaging/grafana/lastseen.json. */
export function dashboardQueries(): string[] {
  const file = readFileSync(join(repository, 'packaging/grafana/lastseen.json'), 'utf8')
  const { panels } = JSON.parse(file) as { panels: { targets?: { expr: string }[] }[] }
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { send } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import {
  alertRules,
  dashboardQueries,
  isPrometheusMissing,
  prometheusFile,
  promtool,
  rulesFolder,
} from '../support/prometheus.ts'
import { eventually } from '../support/tracking.ts'

const token = 'a long and secret word'
const context = useApp({
  ...{ settings: { LASTSEEN_METRICS_TOKEN: token }, singleServerReason: 'each server has its own metrics' },
})

/** Skipped without Debian's package `prometheus`, except in CI. */
describe.skipIf(isPrometheusMissing)('promtool', () => {
  it('has no complaint about the names of our metrics', async () => {
    const { text } = await context.app.anonymous('GET', '/metrics', { token })
    expect(text).toContain('lastseen_build_info')
    const { output } = promtool(['check', 'metrics'], text)
    expect(output.split('\n').filter((line) => line.startsWith('lastseen_'))).toEqual([])
    const wrong = '# HELP lastseen_wrong Wrong.\n# TYPE lastseen_wrong counter\nlastseen_wrong 1\n'
    expect(promtool(['check', 'metrics'], wrong).output).toContain('lastseen_wrong')
  })

  it('accepts the alert rules', () => {
    const { code, output } = promtool(['check', 'rules', join(rulesFolder, 'alerts.yml')])
    expect([code, output]).toEqual([0, expect.stringContaining(`${alertRules().length} rules found`)])
  })

  it('finds that each alert fires when it must, and not before', () => {
    const { code, output } = promtool(['test', 'rules', join(rulesFolder, 'alerts.test.yml')])
    expect(code, output).toBe(0)
  })
})

describe.skipIf(isPrometheusMissing)('A Prometheus that scrapes the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-prometheus-'))
  let url: string
  let child: ChildProcess

  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(rulesFolder, 'alerts.yml')],
      scrape_configs: [
        {
          job_name: 'lastseen',
          authorization: { credentials: token },
          static_configs: [{ targets: [new URL(context.app.url).host] }],
        },
      ],
    }
    const file = join(folder, 'prometheus.yml')
    writeFileSync(file, JSON.stringify(config))
    const args = [
      `--config.file=${file}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    child = spawn(prometheusFile, args, { stdio: 'ignore' })
    await eventually(async () => expect((await fetch(`${url}/-/ready`)).status).toBe(200), 30_000)
  })
  afterAll(async () => {
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  })

  const query = async (expression: string) =>
    (await send(url, 'GET', '/api/v1/query', { query: { query: expression } })).json

  it('reads the metrics, evaluates every rule, and raises no alert', async () => {
    await eventually(async () => {
      const { data } = await query('up{job="lastseen"} == 1')
      expect(data.result).toHaveLength(1)
    }, 30_000)
    await eventually(async () => {
      const { json } = await send(url, 'GET', '/api/v1/rules')
      const rules = json.data.groups.flatMap(
        (group: { rules: { name: string; health: string; state: string }[] }) => group.rules,
      )
      expect(
        rules.map((rule: { name: string; health: string; state: string }) => [rule.name, rule.health, rule.state]),
      ).toEqual(alertRules().map(({ alert }) => [alert, 'ok', 'inactive']))
    }, 30_000)
  })

  it.each(dashboardQueries())('evaluates the query of a panel: %s', async (expression) => {
    const reply = await query(expression.replaceAll('$__rate_interval', '1m'))
    expect(reply.status, reply.error).toBe('success')
  })

  it('keeps the labels of our metrics', async () => {
    const { data } = await query('{__name__=~"lastseen_.*", exported_job!=""}')
    expect(data.result).toEqual([])
    expect((await query('lastseen_job_runs_total{job="lastseen",task="latest-reads"}')).data.result).not.toEqual([])
  })
})

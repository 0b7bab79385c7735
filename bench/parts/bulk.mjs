/** Measures an import through the client and an export of a large organization, with the memory of the server. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createDatabase, startServer } from '../environment.mjs'
import { createOrganization } from '../seed.mjs'

const maxImportSeconds = 60
const maxServerMebibytes = 300

/** Starts a new measurement of the peak memory (Linux, `proc_pid_clear_refs(5)`). */
const resetPeak = (pid) => writeFileSync(`/proc/${pid}/clear_refs`, '5')
const peakMebibytes = (pid) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

function* newAssets(count) {
  for (let n = 1; n <= count; n++)
    yield {
      external_key: `NEW-${n}`,
      name: `Roll cage ${n}`,
      metadata: { owner: `dock ${n % 7}` },
      tags: [{ tag_type: 'rfid', value: `E2801171${n.toString(16).toUpperCase().padStart(16, '0')}` }],
    }
}

export const bulk = {
  name: 'bulk',
  title: 'Bulk import and export',
  async measure({ scope, postgres, isQuick }) {
    // `npm run bench` builds the client before it runs.
    const { Lastseen } = await import('../../client/dist/index.js')
    const [exported, imported] = isQuick ? [20_000, 2_000] : [1_000_000, 50_000]
    const url = await createDatabase(postgres, 'bench_bulk')
    const { credentials } = await createOrganization({ url, assets: exported, credentials: 1 })
    const { pid, port } = await scope.use(startServer({ url, folder: postgres.folder }))
    const [{ client_id: clientId, client_secret: clientSecret }] = credentials
    const client = new Lastseen({ baseUrl: `http://127.0.0.1:${port}`, clientId, clientSecret })
    const measure = async (label, work, max) => {
      resetPeak(pid)
      const startedAt = performance.now()
      const rows = await work()
      const seconds = (performance.now() - startedAt) / 1000
      const time = max === undefined ? seconds : { value: seconds, max }
      return [label, rows, time, { value: peakMebibytes(pid), max: maxServerMebibytes }]
    }
    const exportAll = async () => {
      let rows = 0
      for await (const asset of client.bulk.exportAssets()) rows += asset.external_key.length > 0 ? 1 : 0
      return rows
    }
    const importNew = async () => (await client.bulk.importAssets(newAssets(imported))).created
    return {
      columns: ['operation', 'rows', 'seconds', 'peak memory of the server, MiB'],
      rows: [
        await measure('export of all assets', exportAll),
        await measure('import of new assets, from the first row to the end of the job', importNew, maxImportSeconds),
      ],
    }
  },
}

import { expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { ImportRun } from '../support/imports.ts'
import { serve } from '../support/process.ts'

const context = useApp()

it.each([
  ['is killed', 'SIGKILL'],
  ['is stopped', 'SIGTERM'],
] as const)(
  'An import whose process %s has the state failed and says why, and none of its rows are written',
  { timeout: 120_000 },
  async (_what, signal) => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('manager')
    const run = await new ImportRun(context.app, accessToken).open('assets')
    const tags = (at: number) => [{ tag_type: 'rfid', value: `T${at}` }]
    await run.rows(Array.from({ length: 20_000 }, (_, at) => ({ external_key: `K${at}`, name: 'a', tags: tags(at) })))
    await run.check()
    const { program, send } = await serve({ DATABASE_URL: context.app.databaseUrl })
    const path = `/api/v1/imports/${run.id}/run`
    const reply = await send('POST', path, { token: accessToken, json: { skip_errors: false } })
    expect(reply.status).toBe(202)
    const { stdout } = await program.stop(signal)
    expect(stdout).not.toContain('import.failed')
    // After a kill, the other process reports the import as running until it finds that its lock is free.
    expect((await run.get()).state).toBe(signal === 'SIGKILL' ? 'running' : 'failed')
    await expect.poll(async () => (await run.get()).state, { timeout: 60_000, interval: 200 }).toBe('failed')
    const message = 'The server stopped before the import finished; nothing was changed'
    expect((await run.get()).errors).toEqual([{ line: 0, field: '', message }])
    expect((await org.full.get('/api/v1/assets')).json.total_count).toBe(0)
    expect((await run.check()).creates).toBe(20_000)
  },
)

import { expect, it } from 'vitest'
import { useApp } from '../support/app.ts'
import { ImportRun } from '../support/imports.ts'
import { serve } from '../support/process.ts'

const context = useApp()

it(
  'An import whose process is killed has the state failed, and none of its rows are written',
  { timeout: 120_000 },
  async () => {
    const org = await context.app.newOrg()
    const { accessToken } = await org.signIn('manager')
    const run = await new ImportRun(context.app, accessToken).open('assets')
    const tags = (at: number) => [{ tag_type: 'rfid', value: `T${at}` }]
    await run.rows(Array.from({ length: 20_000 }, (_, at) => ({ external_key: `K${at}`, name: 'a', tags: tags(at) })))
    await run.check()
    const killed = await serve({ DATABASE_URL: context.app.databaseUrl })
    const path = `/api/v1/imports/${run.id}/run`
    const reply = await killed.send('POST', path, { token: accessToken, json: { skip_errors: false } })
    expect(reply.status).toBe(202)
    await killed.program.stop('SIGKILL')
    // The other process reports the import as running until it finds that its lock is free.
    expect((await run.get()).state).toBe('running')
    await expect.poll(async () => (await run.get()).state, { timeout: 60_000, interval: 200 }).toBe('failed')
    expect((await org.full.get('/api/v1/assets')).json.total_count).toBe(0)
    expect((await run.check()).creates).toBe(20_000)
  },
)

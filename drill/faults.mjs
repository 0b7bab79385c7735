/**
 * The faults and how often each is injected, by the service that they need. A fault is over when every writer has received
 * an acknowledgement again. `--quick` leaves out slow ones.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const freezeMs = 2_000

/** The pids of the postmaster, from its pid file, and of its children. */
function databasePids(service) {
  const parent = service.databasePid
  const isChild = (pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')[1]) === parent
    } catch {
      return false
    }
  }
  return [
    parent,
    ...readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter(isChild),
  ]
}

const backends = `select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`

/** Longer than clients and the server wait for a response. */
const longFreezeMs = 20_000

async function freeze(pids, ms = freezeMs) {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  await sleep(ms)
  for (const pid of pids) process.kill(pid, 'SIGCONT')
}

async function setReadOnly(service, isReadOnly) {
  await service.withDatabase(async (client) => {
    await client.query(`set default_transaction_read_only = off`)
    await client.query(`alter database lastseen set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
    await client.query(`select pg_terminate_backend(pid) from (${backends}) b`)
  })
}

const ofServerAndDatabase = [
  { name: 'server killed', times: 24, run: (service) => service.killServer() },
  { name: 'database killed', times: 24, run: (service) => process.kill(service.databasePid, 'SIGKILL') },
  {
    name: 'backend killed',
    times: 10,
    run: (service) =>
      service.withDatabase(async (client) => {
        const { rows } = await client.query(`${backends} order by random() limit 1`)
        if (rows.length > 0) process.kill(rows[0].pid, 'SIGKILL')
      }),
  },
  {
    name: 'all database connections ended',
    times: 16,
    run: (service) =>
      service.withDatabase((client) => client.query(`select pg_terminate_backend(pid) from (${backends}) b`)),
  },
  { name: 'client connections cut', times: 16, run: (service) => service.cutConnections() },
  { name: 'server frozen for 2 s', times: 4, run: (service) => freeze([service.pid]) },
  { name: 'database frozen for 2 s', times: 4, run: (service) => freeze(databasePids(service)) },
  { name: 'server frozen for 20 s', times: 1, isSlow: true, run: (service) => freeze([service.pid], longFreezeMs) },
  {
    name: 'database frozen for 20 s',
    times: 1,
    isSlow: true,
    run: (service) => freeze(databasePids(service), longFreezeMs),
  },
  {
    name: 'tables locked for 2 s',
    times: 4,
    run: (service) =>
      service.withDatabase(async (client) => {
        await client.query('begin')
        await client.query('lock table assets, asset_positions in access exclusive mode')
        await sleep(freezeMs)
        await client.query('rollback')
      }),
  },
  {
    name: 'database read-only for 2 s',
    times: 2,
    async run(service) {
      await setReadOnly(service, true)
      await sleep(freezeMs)
      await setReadOnly(service, false)
    },
  },
  {
    name: 'disk full for 2 s',
    times: 2,
    /** Requires that the data folder is on its own small file system. */
    obstacle: ({ disk }) => (disk.isOnOwnDisk ? undefined : 'cannot mount a file system'),
    async run(_service, { disk }) {
      disk.fill()
      await sleep(freezeMs)
      disk.free()
    },
  },
]

const ofBroker = [
  { name: 'MQTT broker restarted', times: 6, run: (_service, { broker }) => broker.restart() },
  { name: 'server killed, MQTT messages wait in the broker', times: 4, run: (service) => service.killServer() },
]

const jump = (seconds) => ({
  name: `clock ${Math.abs(seconds) / 60} min ${seconds > 0 ? 'ahead' : 'behind'} for 4 s`,
  times: 2,
  async run(_service, { clock }) {
    clock.set(seconds)
    await sleep(4_000)
    clock.set(0)
    // The library reads the file once a second.
    await sleep(1_000)
  },
})

const ofClock = [jump(60), jump(-60), jump(3_600), jump(-3_600)]

export const faultGroups = [
  { faults: ofServerAndDatabase },
  { faults: ofBroker, needs: 'broker' },
  { faults: ofClock, needs: 'clock' },
]

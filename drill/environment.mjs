/**
 * What a drill controls around the service: a disk that can be filled, an MQTT broker that can be restarted, a clock that can
 * jump.
 */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, stopProcess } from '../bench/environment.mjs'

const diskMiB = 1_500
const mosquitto = ['/usr/sbin/mosquitto', '/usr/local/sbin/mosquitto'].find(existsSync)
const architecture = { arm64: 'aarch64', x64: 'x86_64' }[process.arch]
const faketime = `/usr/lib/${architecture}-linux-gnu/faketime/libfaketimeMT.so.1`

export function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'lastseen-drill-'))
  chmodSync(folder, 0o755)
  return { folder, stop: async () => rmSync(folder, { recursive: true, force: true }) }
}

/** Creates a folder on its own small file system, which a fault can fill; an ordinary folder when mounting is not allowed. */
export function createDisk(mebibytes = diskMiB) {
  const { folder, stop } = createFolder()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'tmpfs', folder])
  const isOnOwnDisk = mounted.status === 0
  const filler = join(folder, 'filler')
  return {
    folder,
    isOnOwnDisk,
    /** Writes a file until the disk is full. */
    fill() {
      for (const bytes of [2 ** 20, 2 ** 12]) {
        try {
          for (let part = 0; part < 4096; part++) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' })
        } catch (error) {
          if (error.code !== 'ENOSPC') throw error
        }
      }
    },
    free: () => rmSync(filler),
    async stop() {
      if (isOnOwnDisk) spawnSync('umount', ['-l', folder])
      await stop()
    },
  }
}

/** Debian's mosquitto, which keeps its messages when it is restarted. Every client may publish. */
async function startBroker(folder) {
  const port = await freePort()
  const data = join(folder, 'mosquitto')
  mkdirSync(data)
  const file = join(data, 'mosquitto.conf')
  const lines = [`listener ${port} 127.0.0.1`, 'allow_anonymous true', 'log_dest none', 'max_queued_messages 0']
  const user = process.getuid() === 0 ? ['user root'] : []
  writeFileSync(file, [...lines, 'persistence true', `persistence_location ${data}/`, ...user, ''].join('\n'))
  let child
  const start = async () => {
    child = spawn(mosquitto, ['-c', file], { stdio: 'ignore' })
    while (!(await accepts(port))) await sleep(50)
  }
  await start()
  return {
    port,
    async restart() {
      await stopProcess(child)
      await start()
    },
    stop: () => stopProcess(child),
  }
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('connect', () => resolve(socket.end() && true)).on('error', () => resolve(false))
  })
}

/**
 * A clock for the server and its database that is set through a file. The monotonic clock is not affected, as with a real
 * jump.
 */
function createClock(folder) {
  const file = join(folder, 'clock')
  const set = (seconds) => writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  set(0)
  const settings = {
    LD_PRELOAD: faketime,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DISABLE_SHM: '1',
  }
  return { set, settings, async stop() {} }
}

const none = async () => ({})

/** What a group of faults needs beside a disk; `missing` names the package that is not installed. */
export const environments = {
  none: { start: none },
  broker: {
    missing: mosquitto === undefined ? 'mosquitto' : undefined,
    start: async (scope, folder) => ({ broker: await scope.use(startBroker(folder)) }),
  },
  clock: {
    missing: existsSync(faketime) ? undefined : 'faketime',
    start: async (scope, folder) => ({ clock: await scope.use(createClock(folder)) }),
  },
}

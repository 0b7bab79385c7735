import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mustRunAll } from '../support/packaging.ts'
import { baseImage, buildah, buildahArgs, buildahOutput, whyNoImages } from '../support/image-builder.ts'
import { freePort } from '../support/free-port.ts'
import { type Program, firstCredentials, launch, repository, tokenFor, usePrograms } from '../support/process.ts'
import { send } from '../support/client.ts'

usePrograms({ isBuilt: false })

const reason = whyNoImages()
if (reason !== null) process.stderr.write(`Not run: the image is not built, because ${reason}.\n`)

describe.skipIf(reason !== null && !mustRunAll)('The image, built from the Dockerfile', () => {
  const name = 'localhost/lastseen-test'
  let container: string
  let server: Program

  beforeAll(() => {
    mkdirSync(join(repository, 'server/.cache/images'), { recursive: true })
    const base = ['--build-arg', `NODE_IMAGE=${baseImage()}`]
    buildahOutput('build', '--isolation', 'chroot', '--format', 'docker', ...base, '--tag', name, '.')
    container = buildahOutput('from', name)
  }, 1_800_000)
  afterAll(async () => {
    if (container === undefined) return
    await server?.stop()
    buildah('rm', container)
    buildah('rmi', name)
  }, 120_000)

  /** A command in the container, as the user of the image; its network is the machine's. */
  const inContainer = (env: Record<string, string>, ...command: string[]): string[] => {
    const settings = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`])
    return buildahArgs('run', '--isolation', 'chroot', ...settings, container, '--', ...command)
  }

  it('runs as an unprivileged user, with a health check and a stop signal', () => {
    const { Docker } = JSON.parse(buildahOutput('inspect', '--type', 'image', name)) as {
      Docker: { config: Record<string, unknown> }
    }
    expect(Docker.config).toMatchObject({
      ...{ User: 'node', StopSignal: 'SIGTERM', Entrypoint: ['lastseen'], Cmd: ['serve'], WorkingDir: '/app' },
      ...{ Volumes: { '/data': {} }, ExposedPorts: { '8080/tcp': {}, '1883/tcp': {} } },
      Healthcheck: { Test: ['CMD', 'node', '/app/server/bin/healthcheck.mjs'] },
    })
  })

  it('starts with the embedded database, becomes healthy, answers, and stops when it is asked to', async () => {
    const port = String(await freePort())
    const settings = { PORT: port, LASTSEEN_HOST: '127.0.0.1', LASTSEEN_MQTT_PORT: '0', LASTSEEN_ADMIN_LINK: 'false' }
    const health = (): Promise<number | null> =>
      launch(
        {},
        { command: ['buildah', ...inContainer({ PORT: port }, 'node', '/app/server/bin/healthcheck.mjs')] },
      ).ended.then(({ code }) => code)
    expect(await health()).not.toBe(0)
    server = launch({}, { command: ['buildah', ...inContainer(settings, 'lastseen', 'serve')] })
    await server.says(/^Lastseen is ready: /m)
    expect(await health()).toBe(0)
    const url = `http://127.0.0.1:${port}`
    expect((await send(url, 'GET', '/', { headers: { Accept: 'text/html' } })).status).toBe(200)
    expect(await tokenFor(url, firstCredentials(server.stderr))).toMatch(/\./)
    const usage = launch({}, { command: ['buildah', ...inContainer({}, 'lastseen', 'assets', '--help')] })
    expect((await usage.ended).stdout).toMatch(/^Usage: lastseen assets /)
    // Buildah would kill the server instead of passing a signal on, so the signal goes to the server itself.
    await expect.poll(() => server.stdout).toMatch(/"pid":\d+/)
    process.kill(Number(/"pid":(\d+)/.exec(server.stdout)![1]), 'SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
  }, 300_000)
})

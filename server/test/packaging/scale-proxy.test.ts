import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '../support/packaging.ts'
import { freePort } from '../support/free-port.ts'
import { newFolder, repository, usePrograms } from '../support/process.ts'
import { eventually } from '../support/tracking.ts'

usePrograms({ isBuilt: false })

const binary = '/usr/sbin/nginx'

describe.skipIf(lacks(binary))('The proxy of compose.scale.yaml', () => {
  const upstreams: Server[] = []
  let proxy: ChildProcess
  let url: string

  /** A server that answers with its name and with the client's address that the proxy passed on. */
  async function upstream(name: string): Promise<string> {
    const server = createServer(({ headers }, response) => response.end(`${name} ${headers['x-forwarded-for']}`))
    upstreams.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  beforeAll(async () => {
    const folder = newFolder()
    const port = await freePort()
    const site = readFileSync(join(repository, 'packaging/nginx-scale.conf'), 'utf8')
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('http://api:8080', await upstream('api'))
      .replace('http://ingest:8080', await upstream('ingest'))
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    const main = `daemon off; pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')}`
    writeFileSync(join(folder, 'nginx.conf'), `${main} ${site} }`)
    proxy = spawn(binary, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' })
    url = `http://127.0.0.1:${port}`
    await eventually(async () => expect((await fetch(url)).status).toBe(200))
  })
  afterAll(async () => {
    proxy.kill()
    await once(proxy, 'exit')
    for (const server of upstreams) server.close()
  })

  it.each([
    ['/ingest/v1/reads', 'ingest 127.0.0.1'],
    ['/api/v1/assets?q=ingest', 'api 127.0.0.1'],
    ['/', 'api 127.0.0.1'],
  ])('passes %s on to the right role, with the address of the client', async (path, answer) => {
    expect(await (await fetch(url + path)).text()).toBe(answer)
  })
})

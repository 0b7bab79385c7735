import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A port on which nothing listens. It is below the range from which the system takes the ports of outgoing connections, so
 * that none of them takes it before the program under test listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_240, 32_768)
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch {
      continue
    }
    probe.close()
    await once(probe, 'close')
    return port
  }
}

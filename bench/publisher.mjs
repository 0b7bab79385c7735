import { createRequire } from 'node:module'
import { connect } from 'node:net'

const { generate, parser } = createRequire(new URL('../server/package.json', import.meta.url))('mqtt-packet')

/** One reader's MQTT connection: publishes with QoS 1 and resolves when the broker has acknowledged. */
export class Publisher {
  #socket
  #waiting = new Map()
  #nextId = 1
  #topic

  static open({ port, username, password, topic }) {
    return new Promise((resolve, reject) => {
      const publisher = new Publisher()
      publisher.#topic = topic
      const packets = parser()
      publisher.#socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
        const login = { cmd: 'connect', clientId: `bench-${Math.random().toString(36).slice(2)}`, username, password }
        publisher.#socket.write(
          generate({ ...login, clean: true, keepalive: 60, protocolVersion: 4, protocolId: 'MQTT' }),
        )
      })
      packets.on('packet', (packet) => {
        if (packet.cmd === 'connack') return packet.returnCode === 0 ? resolve(publisher) : reject(new Error('refused'))
        if (packet.cmd !== 'puback') return
        publisher.#waiting.get(packet.messageId)?.resolve()
        publisher.#waiting.delete(packet.messageId)
      })
      const fail = (error) => {
        reject(error)
        for (const one of publisher.#waiting.values()) one.reject(error)
      }
      publisher.#socket.on('data', (chunk) => packets.parse(chunk))
      publisher.#socket.on('error', fail)
      publisher.#socket.on('close', () => fail(new Error('the connection was closed')))
    })
  }

  send(payload) {
    const messageId = this.#nextId
    this.#nextId = (this.#nextId % 65_535) + 1
    return new Promise((resolve, reject) => {
      this.#waiting.set(messageId, { resolve, reject })
      this.#socket.write(
        generate({ cmd: 'publish', topic: this.#topic, payload, qos: 1, messageId, dup: false, retain: false }),
      )
    })
  }

  close() {
    this.#waiting.clear()
    this.#socket.destroy()
  }
}

import { type Server, type Socket, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Aedes, type AuthenticateError, type Client } from 'aedes'
import { ByteBudget } from '../admission/byte-budget.ts'
import { ConnectionLimits } from '../admission/connection-limits.ts'
import type { Clock } from '../kernel/clock.ts'
import { clientKeyOf } from '../kernel/ip-range.ts'
import type { TlsFiles } from '../kernel/tls-files.ts'
import type { Device } from '../readers/reader.ts'
import type { Login, ReaderCache } from './reader-cache.ts'
import type { Refusal } from './reader-refusals.ts'
import type { ReadIngestor } from './read-ingestor.ts'
import { PacketSizeGuard } from './mqtt-packet-guard.ts'

export interface BrokerDeps {
  readerCache: ReaderCache
  ingestor: ReadIngestor
  clock: Clock
  host: string
  port: number
  /** Serves MQTT over TLS if set. */
  tls: TlsFiles | null
  maxConnections: number
  maxConnectionsPerAddress: number
  /** How long a client may take to send its CONNECT packet. */
  connectTimeoutMs?: number
  onFailure: (error: unknown) => void
  onConnection: (device: Device, isConnected: boolean) => void
  /** A connection that has not signed in was closed because it exceeded a limit. */
  onLimit: (limit: string, address: string) => void
  /** A login or message was refused, or the connection of a reader was closed because it exceeded a limit. */
  onRefused: (refusal: Omit<Refusal, 'transport'>) => void
}

export interface Broker {
  port: number
  /** The connections of clients, signed in or not. */
  readonly connections: number
  /**
   * Closes the connections whose token is not valid any more: those of one reader, or of all readers. Connections that
   * cannot be checked are closed, too, unless they will be checked again.
   */
  closeRevoked(readerId: number | null, options?: { willCheckAgain: boolean }): Promise<void>
  close(): Promise<void>
}

const defaultConnectTimeoutMs = 10_000
/** A CONNECT packet carries a client id, a user name, a token and perhaps a last will. */
const maxConnectBytes = 64 * 1024
/** The memory for packets of readers that have begun and are not complete. */
export const packetMemory = { maxBytes: 128 * 1024 * 1024, maxBytesPerTenant: 16 * 1024 * 1024 }
/** The same for clients that have not signed in, per client address. */
export const anonymousPacketMemory = { maxBytes: 64 * 1024 * 1024, maxBytesPerTenant: 8 * 1024 * 1024 }
/** Connections of one reader, and of one organization. */
export const maxConnectionsPerReader = 100
export const maxConnectionsPerOrg = 2500
/** Connections whose tokens one statement checks, so that thousands take less than a second. */
const checkBatchSize = 1000
/** Messages with QoS 2 that a client has not released yet. */
const maxUnreleased = 100

function createSecureServer(tls: TlsFiles): Server {
  const server = createTlsServer({ ...tls.current, handshakeTimeout: defaultConnectTimeoutMs })
  tls.onChange((pair) => server.setSecureContext(pair))
  return server
}

const loginError = Object.assign(new Error('unknown reader or wrong token'), { returnCode: 4 as const })
interface SignedIn {
  device: Device
  token: string
  /** Closes the connection when the token ends. */
  expiry: NodeJS.Timeout | undefined
}

const emptyPayload = Buffer.alloc(0)

/** The message was refused; `onRefused` was called. */
class RefusedMessageError extends Error {}

const addressOf = ({ conn }: Client): string => (conn as Socket).remoteAddress ?? ''

const networkOf = (client: Client): string => clientKeyOf(addressOf(client)) ?? ''

/** A reader is identified by its login, so it may publish to any topic except those of other readers. */
function isOwnTopic(topic: string, topicKey: string): boolean {
  if (topic.startsWith('$')) return false
  return !topic.startsWith('lastseen/') || topic.split('/')[1] === topicKey
}

/**
 * The embedded MQTT broker, for readers only. Clients cannot subscribe, so no client can receive messages of another one.
 * A message is acknowledged only when its reads are durable.
 */
export async function startBroker(deps: BrokerDeps): Promise<Broker> {
  const logins = new WeakMap<Client, SignedIn>()
  const signedIn = new Set<Client>()
  const sockets = new Set<Socket>()
  const limits = new ConnectionLimits(deps.maxConnections, deps.maxConnectionsPerAddress)
  const readerLimits = new ConnectionLimits(Infinity, maxConnectionsPerReader)
  const orgLimits = new ConnectionLimits(Infinity, maxConnectionsPerOrg)
  const unfinished = new ByteBudget(packetMemory)
  const anonymousUnfinished = new ByteBudget(anonymousPacketMemory)

  async function authenticate(client: Client, username: string | undefined, password: Buffer | undefined) {
    const token = password?.toString('utf8') ?? ''
    const login = await deps.readerCache.loginByToken(token, networkOf(client))
    if (login === null || username !== String(login.device.readerId)) {
      const why = await deps.readerCache.whyRefused(token, username, login?.device ?? null)
      deps.onRefused({ ...why, address: addressOf(client) })
      return false
    }
    if (!client.closed && !admit(client, login.device)) return false
    logins.set(client, { device: login.device, token, expiry: undefined })
    if (!client.closed) closeAtExpiry(client, login)
    deps.onConnection(login.device, true)
    return true
  }

  /** Counts the connection of a reader; returns false if it would exceed a limit. */
  function admit(client: Client, device: Device): boolean {
    const [reader, org] = [String(device.readerId), String(device.orgId)]
    let limit = readerLimits.add(reader) === null ? null : `${maxConnectionsPerReader} MQTT connections of one reader`
    if (limit === null && orgLimits.add(org) !== null) {
      readerLimits.remove(reader)
      limit = `${maxConnectionsPerOrg} MQTT connections of one organization`
    }
    if (limit !== null) {
      deps.onRefused({ reason: 'over_limit', device, address: addressOf(client), limit })
      return false
    }
    signedIn.add(client)
    ;(client.conn as Socket).once('close', () => {
      readerLimits.remove(reader)
      orgLimits.remove(org)
    })
    return true
  }

  function closeAtExpiry(client: Client, { expiresAtMs }: Pick<Login, 'expiresAtMs'>): void {
    const login = logins.get(client)
    clearTimeout(login?.expiry)
    if (login === undefined || expiresAtMs === null) return
    login.expiry = setTimeout(() => client.close(), expiresAtMs - deps.clock.millis()).unref()
  }

  async function closeIfRevoked(clients: readonly Client[]): Promise<void> {
    const tokenOf = (client: Client): string => logins.get(client)!.token
    const expiries = await deps.readerCache.expiryOf(clients.map(tokenOf))
    for (const client of clients) {
      const expiry = expiries.get(tokenOf(client))
      if (expiry === undefined) client.close()
      else if (signedIn.has(client)) closeAtExpiry(client, expiry)
    }
  }

  async function ingest(client: Client | null, packet: { topic: string; payload: string | Buffer; retain: boolean }) {
    const login = client === null ? undefined : logins.get(client)
    const device = login === undefined ? null : await deps.readerCache.byToken(login.token, networkOf(client!))
    if (device === null || !isOwnTopic(packet.topic, device.topicKey)) {
      const reason = device === null ? 'revoked_token' : 'forbidden_topic'
      const address = client === null ? '' : addressOf(client)
      deps.onRefused({ reason, device: login?.device ?? null, topic: packet.topic, address })
      throw new RefusedMessageError('not allowed')
    }
    packet.retain = false
    await deps.ingestor.processOrDiscard(device, Buffer.from(packet.payload), packet.topic)
    // There are no subscribers: until a message with QoS 2 is released, the broker needs only its id.
    packet.topic = 'recorded'
    packet.payload = emptyPayload
  }

  const aedes = await Aedes.createBroker({
    // A client id as in MQTT 3.1, prefixed with the reader's id.
    maxClientsIdLength: 256 + 20,
    connectTimeout: deps.connectTimeoutMs ?? defaultConnectTimeoutMs,
    maxInflightInbound: maxUnreleased,
    preConnect(_client, packet, done) {
      // The user name is the reader's id, which authentication verifies. So only the same reader can take over a client id.
      if (packet.clientId !== '') packet.clientId = `${packet.username ?? ''}/${packet.clientId}`
      // A reader only publishes, so its session need not outlive the connection.
      packet.clean = true
      done(null, true)
    },
    authenticate(client, username, password, done) {
      authenticate(client, username, password).then(
        (isKnown) => done(isKnown ? null : loginError, isKnown),
        (error: unknown) => {
          // Clients connect again after a lost connection, but some give up after a CONNACK with an error.
          deps.onFailure(error)
          ;(client.conn as Socket).destroy()
          done(error as AuthenticateError, false)
        },
      )
    },
    authorizePublish(client, packet, done) {
      ingest(client, packet).then(
        () => done(null),
        (error: unknown) => {
          // Without an acknowledgement the connection is closed, and the reader sends the message again.
          if (!(error instanceof RefusedMessageError)) deps.onFailure(error)
          done(error as Error)
        },
      )
    },
    authorizeSubscribe: (_client, _subscription, done) => done(null, null),
  })
  aedes.on('clientDisconnect', (client) => {
    const device = logins.get(client)?.device
    if (device !== undefined) deps.onConnection(device, false)
  })
  aedes.on('clientError', (client, error) => {
    if (!error.message.startsWith('maxInflightInbound')) return
    const device = logins.get(client)?.device ?? null
    const limit = `${maxUnreleased} messages with QoS 2 that are not released`
    deps.onRefused({ reason: 'over_limit', device, address: addressOf(client), limit })
  })

  const server = deps.tls === null ? createServer() : createSecureServer(deps.tls)
  // A connection counts from its first packet on, before a TLS handshake.
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const network = clientKeyOf(address) ?? address
    const exceeded = limits.add(network)
    if (exceeded !== null) {
      socket.destroy()
      return deps.onLimit(exceeded, address)
    }
    sockets.add(socket)
    socket.once('close', () => {
      limits.remove(network)
      sockets.delete(socket)
    })
  })
  server.on(deps.tls === null ? 'connection' : 'secureConnection', (socket: Socket) => {
    if (socket.destroyed) return
    const client = aedes.handle(socket)
    const sizes = new PacketSizeGuard(maxConnectBytes)
    // This listener runs before the broker reads the data from the socket.
    socket.on('data', (chunk) => {
      if (sizes.isTooLarge(chunk)) return void socket.destroy()
      const device = logins.get(client)?.device
      const bytes = sizes.unfinishedBytes
      const limit = 'memory for packets that are not finished'
      if (device === undefined) {
        if (anonymousUnfinished.hold(socket, networkOf(client), bytes)) return
        socket.destroy()
        return deps.onLimit(limit, addressOf(client))
      }
      anonymousUnfinished.release(socket)
      if (unfinished.hold(socket, device.orgId, bytes)) return
      socket.destroy()
      deps.onRefused({ reason: 'over_limit', device, address: addressOf(client), limit })
    })
    socket.once('close', () => {
      unfinished.release(socket)
      anonymousUnfinished.release(socket)
      signedIn.delete(client)
      clearTimeout(logins.get(client)?.expiry)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(deps.port, deps.host, () => resolve())
  }).catch((error: unknown) => {
    // The broker has open handles until it is closed, which would keep the process alive.
    aedes.close()
    throw error
  })
  const address = server.address()
  return {
    get connections() {
      return sockets.size
    },
    port: typeof address === 'object' && address !== null ? address.port : deps.port,
    async closeRevoked(readerId, { willCheckAgain } = { willCheckAgain: false }) {
      const isAffected = (client: Client): boolean =>
        readerId === null || logins.get(client)!.device.readerId === readerId
      const clients = [...signedIn].filter(isAffected)
      for (let start = 0; start < clients.length; start += checkBatchSize) {
        const batch = clients.slice(start, start + checkBatchSize)
        await closeIfRevoked(batch).catch((error: unknown) => {
          if (willCheckAgain) return
          deps.onFailure(error)
          for (const client of batch) client.close()
        })
      }
    },
    close: () =>
      new Promise((resolve) => {
        aedes.close(() => {
          server.close(() => resolve())
          // The broker has closed the authenticated clients; the other sockets are destroyed here.
          for (const socket of sockets) socket.destroy()
        })
      }),
  }
}

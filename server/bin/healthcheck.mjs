/** The health check of the container image: exits with 0 while the server in this container is ready. */
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'

const { LASTSEEN_TLS_CERT, PORT } = process.env
// The certificate is for the public name and not for the loopback address.
const options = { host: '127.0.0.1', port: PORT || 8080, path: '/readyz', timeout: 4000, rejectUnauthorized: false }
const request = (LASTSEEN_TLS_CERT ? requestHttps : requestHttp)(options, ({ statusCode }) =>
  process.exit(statusCode === 200 ? 0 : 1),
)
request.on('timeout', () => process.exit(1))
request.on('error', () => process.exit(1))
request.end()

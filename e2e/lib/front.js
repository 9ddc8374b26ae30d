import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

import { Journal, patience } from './journal.js'

// clientHeader is the header by which a visitor tells a front its client address.
export const clientHeader = 'x-visitor'

// selfSigned makes a key and a certificate for a host, good for a day.
async function selfSigned(host) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(folder, name))
  try {
    await promisify(execFile)(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '1',
        '-subj',
        `/CN=${host}`,
        '-addext',
        `subjectAltName=DNS:${host}`,
        '-keyout',
        key,
        '-out',
        cert,
      ],
      { timeout: patience },
    )
    return { key: await readFile(key), cert: await readFile(cert) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

// A Front is a reverse proxy in front of a server: it ends TLS, or speaks plain HTTP,
// and forwards the client's address, the host and the scheme.
export class Front {
  answered = new Journal() // requests, by method, path and status
  requests = [] // every byte of them: each has a head, and its body in pieces
  redirects = new Map() // from a path to a location, in place of the server's answer
  moved = (location) => location // what an answer has in place of its Location
  url = ''
  #server
  #target
  #scheme
  #agent = new http.Agent({ keepAlive: true })

  static async open(target, scheme, host) {
    const front = new Front()
    front.#target = new URL(target)
    front.#scheme = scheme
    const answer = (request, response) => front.#pass(request, response)
    front.#server = scheme === 'https' ? https.createServer(await selfSigned(host), answer) : http.createServer(answer)
    front.#server.listen(0, '127.0.0.1')
    await once(front.#server, 'listening')
    front.url = `${scheme}://${host}:${front.#server.address().port}`
    return front
  }

  // heard is every byte of the requests, one request after the other.
  get heard() {
    return this.requests.flatMap(({ head, body }) => [head, ...body])
  }

  #pass(request, response) {
    const location = this.redirects.get(request.url)
    if (location) {
      response.writeHead(302, { location }).end()
      return
    }
    const { [clientHeader]: client, ...headers } = request.headers
    const onward = http.request(
      {
        agent: this.#agent,
        host: this.#target.hostname,
        port: this.#target.port,
        method: request.method,
        path: request.url,
        headers: {
          ...headers,
          'x-forwarded-for': client ?? '203.0.113.1',
          'x-forwarded-host': request.headers.host,
          'x-forwarded-proto': this.#scheme,
        },
      },
      (answer) => {
        const { location: to } = answer.headers
        response.writeHead(answer.statusCode, answer.rawHeaders.map((part) => part === to ? this.moved(to) : part))
        answer.pipe(response)
        this.answered.add({ method: request.method, path: request.url, status: answer.statusCode, headers: request.headers })
        answer.on('error', () => response.destroy())
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy()) // the browser has left, or has it all
    request.on('error', () => onward.destroy())
    const body = []
    this.requests.push({ head: Buffer.from([request.method, request.url, ...request.rawHeaders, ''].join('\n')), body })
    request.on('data', (bytes) => body.push(bytes))
    request.pipe(onward)
  }

  async close() {
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }
}

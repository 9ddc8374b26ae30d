import { once } from 'node:events'
import http from 'node:http'

import { Journal } from './journal.js'

// A Site is another web server. It records its requests.
export class Site {
  asked = new Journal() // of path, headers and body
  url = ''
  #server

  // open begins to serve pages by path: HTML texts, or functions of the site.
  static async open(pages) {
    const site = new Site()
    site.#server = http.createServer((request, response) => {
      const parts = []
      request.on('error', () => {}) // the browser has left
      request.on('data', (part) => parts.push(part))
      request.on('end', () => {
        const page = pages[request.url]
        response.writeHead(page ? 200 : 404, { 'Content-Type': 'text/html; charset=utf-8' })
        response.end(typeof page === 'function' ? page(site) : page)
        site.asked.add({ path: request.url, headers: request.headers, body: Buffer.concat(parts) })
      })
    })
    site.#server.listen(0, '127.0.0.1')
    await once(site.#server, 'listening')
    site.url = `http://127.0.0.1:${site.#server.address().port}`
    return site
  }

  async close() {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

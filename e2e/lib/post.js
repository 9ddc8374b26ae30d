import { createServer } from 'node:net'

import { Journal } from './journal.js'

// A Post is a mail server that takes every mail, without encryption.
export class Post {
  mails = new Journal() // to whom each went, and its text as it was sent
  #server

  static async open() {
    const p = new Post()
    p.#server = createServer((socket) => p.#talk(socket))
    await new Promise((resolve, reject) => {
      p.#server.once('error', reject)
      p.#server.listen(0, '127.0.0.1', resolve)
    })
    return p
  }

  get port() {
    return this.#server.address().port
  }

  // #talk answers the commands of one connection.
  #talk(socket) {
    let [rest, to, text] = ['', '', null] // text is null outside of a mail
    const say = (line) => socket.write(`${line}\r\n`)
    socket.on('error', () => {}) // a client that has gone
    socket.setEncoding('utf8')
    socket.on('data', (data) => {
      const lines = (rest + data).split('\r\n')
      rest = lines.pop()
      for (const line of lines) {
        if (text !== null && line !== '.') {
          text += `${line}\n`
        } else if (text !== null) {
          this.mails.add({ to, text: text.replaceAll('=\n', '') }) // the soft breaks of quoted-printable
          text = null
          say('250 taken')
        } else if (/^RCPT TO:/i.test(line)) {
          to = /<(.*?)>/.exec(line)[1]
          say('250 ok')
        } else if (/^DATA/i.test(line)) {
          text = ''
          say('354 go on')
        } else if (/^QUIT/i.test(line)) {
          say('221 bye')
          socket.end()
        } else {
          say('250 ok')
        }
      }
    })
    say('220 post')
  }

  async close() {
    await new Promise((resolve) => {
      this.#server.close(resolve)
    })
  }
}

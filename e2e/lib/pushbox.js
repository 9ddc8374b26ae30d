import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

import { Journal, patience, soon } from './journal.js'

const root = path.resolve(import.meta.dirname, '../..')

// A Pushbox is a server with a data directory and an account of its own.
export class Pushbox {
  log = new Journal() // its lines, as objects
  said = new Journal() // what it says to people, by line
  url = ''
  #folder
  #process
  #binary
  #token

  // start starts $PUSHBOX_BIN, or a build of the tree, with settings by their names in
  // the environment. It has an account, unless empty is true.
  static async start(settings = {}, empty = false) {
    const p = new Pushbox()
    p.#folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
    try {
      p.#binary = process.env.PUSHBOX_BIN ? path.resolve(root, process.env.PUSHBOX_BIN) : await p.#build()
      await p.#serve(settings)
      if (!empty) p.#token = (await p.account('ann@example.com')).token
    } catch (err) {
      await p.stop()
      throw err
    }
    return p
  }

  async #build() {
    const binary = path.join(this.#folder, 'pushbox')
    await promisify(execFile)('go', ['build', '-o', binary, '.'], { cwd: root, timeout: 10 * patience })
    return binary
  }

  async #serve(settings) {
    const args = ['serve', '--listen', '127.0.0.1:0', ...this.#data()]
    // Not the environment of the tests: a variable that begins with PUSHBOX_ would be a setting.
    this.#process = spawn(this.#binary, args, { env: settings, stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(this.#process, 'exit').then(([code]) => { throw new Error(`the server ended: ${code}`) })
    ended.catch(() => {}) // where it is stopped, that is no error
    process.once('exit', () => this.#process.kill('SIGKILL'))
    createInterface(this.#process.stderr).on('line', (line) => {
      if (line.startsWith('{')) this.log.add(JSON.parse(line))
      else this.said.add(line)
    })
    const listening = this.log.first('the server to listen', (line) => line.message === 'listening')
    this.url = `http://${(await Promise.race([listening, ended])).address}`
  }

  #data() {
    return ['--data-dir', path.join(this.#folder, 'data')]
  }

  // #command runs a command of the program, and returns what it prints.
  async #command(args, input = '') {
    const running = promisify(execFile)(this.#binary, [...args, ...this.#data()], { env: {}, timeout: patience })
    running.child.stdin.on('error', () => {}) // it need not read: whether it failed, its exit code says
    running.child.stdin.end(input)
    return (await running).stdout
  }

  // account creates an account with an API token.
  async account(email, password = 'correct horse battery') {
    await this.#command(['user', 'add', email, '--password-stdin'], `${password}\n`)
    return { email, password, token: (await this.#command(['token', 'create', email])).trim() }
  }

  // grant makes an account an administrator's.
  async grant({ email }) {
    await this.#command(['user', 'grant', 'admin', email])
  }

  // govern gives an account a policy.
  async govern({ email }, policy) {
    await this.#command(['user', 'policy', email, policy])
  }

  // stop ends the server and deletes its data.
  async stop() {
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      const exit = once(this.#process, 'exit')
      this.#process.kill('SIGTERM')
      await soon(exit, 'the server to stop').finally(() => this.#process.kill('SIGKILL'))
    }
    await rm(this.#folder, { recursive: true })
  }

  // push sends files, each a name and content, and returns their push.
  async push(...files) {
    const form = new FormData()
    for (const { name, content } of files) form.append('push[files][]', new Blob([content]), name)
    return this.send(form)
  }

  // send creates a push from a form, or from the bytes of one.
  async send(body, contentType) {
    return this.#call('POST', '', body, contentType && { 'Content-Type': contentType })
  }

  // show retrieves a push. The url of each file works for a while.
  async show({ url_token }) {
    return this.#call('GET', `/${url_token}`)
  }

  // create creates a push from its fields, for the usual account or another one.
  async create(push, owner) {
    return this.#call('POST', '', JSON.stringify({ push }), { 'Content-Type': 'application/json' }, owner)
  }

  // audit returns the log of a push, the kinds of its entries, oldest first, and the number
  // of counted views.
  async audit({ url_token }, owner) {
    const { logs } = await this.#call('GET', `/${url_token}/audit`, undefined, {}, owner)
    const kinds = logs.map((entry) => entry.kind)
    return { logs, kinds, views: kinds.filter((kind) => kind === 'view').length }
  }

  // active lists the live pushes of an account, newest first.
  async active(owner) {
    return this.#call('GET', '/active', undefined, {}, owner)
  }

  // expire deletes a push.
  async expire({ url_token }, owner) {
    await this.#call('DELETE', `/${url_token}`, undefined, {}, owner)
  }

  async #call(method, where, body, headers, owner = { token: this.#token }) {
    const response = await fetch(`${this.url}/api/v2/pushes${where}`, {
      method, body,
      headers: { Authorization: `Bearer ${owner.token}`, ...headers },
      signal: AbortSignal.timeout(patience),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`)
    return JSON.parse(text)
  }
}

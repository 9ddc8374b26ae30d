import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, watch } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import puppeteer from 'puppeteer-core'

import { patience, soon } from './journal.js'

// openFirefox starts Debian's Firefox, or what $FIREFOX names. pushbox.test is this machine,
// whose certificate is not verified.
export async function openFirefox() {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    acceptInsecureCerts: true,
    extraPrefsFirefox: { 'network.dns.localDomains': 'pushbox.test' },
    timeout: patience,
  })
}

// cutShort is what Firefox reports of a script whose load ended because the page was left: it has the hash of no bytes.
const cutShort = createHash('sha384').update('').digest('base64')

// A Fox is a person at Firefox, with a page and a folder for downloads.
export class Fox {
  #wrong = [] // what the browser reported
  #foreseen = []

  // arrive opens a window.
  static async arrive(browser, at) {
    const fox = new this()
    fox.at = at
    fox.folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
    fox.context = await browser.createBrowserContext({ downloadBehavior: { policy: 'allow', downloadPath: fox.folder } })
    fox.page = await fox.context.newPage()
    fox.page.setDefaultTimeout(patience)
    fox.page.on('console', (message) => ['error', 'warn'].includes(message.type()) && !message.text().includes(cutShort) && fox.#wrong.push(message.text()))
    fox.page.on('pageerror', (failure) => fox.#wrong.push(failure.message))
    return fox
  }

  // go opens a path of the server, or a whole address, even if only its fragment is another.
  async go(where) {
    await this.page.goto('about:blank')
    await this.page.goto(new URL(where, this.at).href)
  }

  // fill fills in fields.
  async fill(fields) {
    for (const [selector, value] of Object.entries(fields)) await this.page.locator(selector).fill(value)
  }

  // press clicks on elements, one after the other.
  async press(...selectors) {
    for (const selector of selectors) await this.page.locator(selector).click()
  }

  // see waits for a text on the page.
  async see(text) {
    await this.page.waitForSelector(`::-p-text(${text})`, { visible: true })
  }

  // read returns a property of an element that is there, or will be soon.
  async read(selector, property = 'textContent') {
    const element = await this.page.waitForSelector(selector)
    return element.evaluate((it, name) => it[name], property)
  }

  // choose chooses files by their paths.
  async choose(...files) {
    const field = await this.page.$('#files')
    await field.uploadFile(...files)
  }

  // saved returns the content of a file once the browser has saved that many bytes.
  async saved(name, length, act) {
    const stop = new AbortController()
    const changes = watch(this.folder, { signal: stop.signal })
    const whole = async () => {
      for await (const _ of changes) {
        const content = await readFile(path.join(this.folder, name)).catch(() => undefined)
        if (content?.length === length) return content
      }
    }
    const saved = whole()
    await act()
    return soon(saved, `the file ${name}`).finally(() => stop.abort())
  }

  // foresee announces messages that the browser will report.
  foresee(...patterns) {
    this.#foreseen.push(...patterns)
  }

  // leave closes the window, and fails if anything went wrong.
  async leave() {
    await this.context.close()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
    assert.deepEqual(this.#wrong.filter((text) => !this.#foreseen.some((pattern) => pattern.test(text))), [])
  }
}

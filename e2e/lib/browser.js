import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { chromium } from 'playwright-core'

import { Journal, patience } from './journal.js'

// openBrowser starts the system's Chromium without its requests to the outside. Names
// that end in .test are this machine, whose certificates are not verified. It keeps
// pages in its back-forward cache as it does for people, which tests of going back need.
export async function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    chromiumSandbox: false, // it cannot be had as root, which CI is
    args: [
      '--disable-background-networking', '--disable-quic', '--disable-sync', '--host-resolver-rules=MAP *.test 127.0.0.1',
      '--ignore-certificate-errors',
    ],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    env: { ...process.env, LANGUAGE: 'en' }, // the browser's own words
    timeout: patience,
  })
}

// A Visitor is a person at the browser, with a page and a folder for downloads.
export class Visitor {
  dialogs = 0 // that pages opened
  script = true // scripts run
  #begun = new Journal()
  #moves = new Journal()
  #session // with the browser

  // arrive opens a window. watch gets its context before it has a page; arrive keeps
  // what watch returns.
  static async arrive(browser, options = {}, watch = async () => {}) {
    const v = new this()
    v.folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
    v.context = await browser.newContext(options)
    v.context.setDefaultTimeout(patience)
    v.watched = await watch(v.context)
    v.page = await v.context.newPage()
    if (!v.watched) v.page.on('dialog', (dialog) => {
      v.dialogs++
      dialog.dismiss().catch(() => {}) // a page that is closed has taken it along
    })
    v.devtools = await v.context.newCDPSession(v.page)
    v.#session = await browser.newBrowserCDPSession()
    await v.#saveWhatIsDownloaded()
    return v
  }

  // #saveWhatIsDownloaded makes the browser itself save files under their names.
  // Playwright's own downloads have random names.
  async #saveWhatIsDownloaded() {
    const { targetInfo } = await this.devtools.send('Target.getTargetInfo')
    this.#session.on('Browser.downloadWillBegin', (event) => this.#begun.add(event))
    this.#session.on('Browser.downloadProgress', (event) => this.#moves.add(event))
    await this.#session.send('Browser.setDownloadBehavior', {
      behavior: 'allow', downloadPath: this.folder, eventsEnabled: true,
      browserContextId: targetInfo.browserContextId,
    })
  }

  async leave() {
    await this.context.close()
    await this.#session.detach()
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  // navigate opens an address and returns the response, or undefined for a download,
  // which leaves the page as it is.
  async navigate(url) {
    try {
      return await this.page.goto(url)
    } catch (err) {
      if (!err.message.includes('Download is starting')) throw err
    }
  }

  // wholePage waits for a page with this heading, and for its last element: the browser
  // shows a long page before all of it has come. A page that comes back from the
  // back-forward cache has no other sign of being whole.
  async wholePage(heading) {
    await this.page.getByRole('heading', heading).waitFor()
    await this.page.locator('#said').waitFor({ state: 'attached' })
    await this.ready()
  }

  // ready waits until the page has loaded, and so has run its scripts, unless none run.
  async ready() {
    if (this.script) await this.page.waitForFunction(() => document.readyState === 'complete')
  }

  // download starts a download with an action, and returns it once it has begun.
  async download(act) {
    const before = this.#begun.mark()
    await act()
    const { guid } = await this.#begun.first('a download', () => true, before)
    return new Download(guid, this.#moves)
  }

  // saved lists the folder of downloads.
  async saved() {
    return readdir(this.folder)
  }

  // choose uses the menu of the only download on the browser's own page of them.
  async choose(item) {
    const page = await this.context.newPage()
    await page.goto('chrome://downloads/')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: item }).click()
    await page.close()
  }

  // slowDown limits the bytes per second; a running download keeps the limit until it is cut.
  async slowDown(bytes) {
    await this.devtools.send('Network.enable')
    await this.devtools.send('Network.emulateNetworkConditions', {
      offline: false, latency: 0, downloadThroughput: bytes, uploadThroughput: -1,
    })
  }
}

// A Download is a download that the browser has begun.
class Download {
  constructor(guid, moves) {
    this.guid = guid
    this.moves = moves
  }

  // moving waits for its first bytes.
  async moving() {
    await this.moves.first('the first bytes', (move) => move.guid === this.guid && move.receivedBytes > 0)
  }

  // end returns its last state: completed, with filePath, or canceled, which means any
  // failure.
  async end() {
    return this.moves.first('the end of a download', (move) => move.guid === this.guid && move.state !== 'inProgress')
  }
}

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

import { chromium } from 'playwright-core'

import { Journal, patience } from './journal.js'

// openBrowser starts the system's Chromium, which looks for nothing outside. Names
// that end in .test are this machine, whose certificates nobody knows. It keeps
// pages that were left as it does for people: a test of going back is one of that.
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
  #begun = new Journal()
  #moves = new Journal()
  #session // with the browser

  // arrive opens a window. watch sees its context before there is a page in it;
  // what it returns is kept.
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

  // #saveWhatIsDownloaded has the browser save files by itself and under their
  // names. Playwright's own downloads have a random one.
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

  // navigate opens an address and returns the response, or undefined if it is
  // downloaded: then the page stays.
  async navigate(url) {
    try {
      return await this.page.goto(url)
    } catch (err) {
      if (!err.message.includes('Download is starting')) throw err
    }
  }

  // download does what begins a download, and returns the download when it has begun.
  async download(act) {
    const before = this.#begun.mark()
    await act()
    const { guid } = await this.#begun.first('a download', () => true, before)
    return new Download(guid, this.#moves)
  }

  // saved is what lies in the folder for downloads.
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

  // slowDown lets only so many bytes a second come, to a download until it is cut.
  async slowDown(bytes) {
    await this.devtools.send('Network.enable')
    await this.devtools.send('Network.emulateNetworkConditions', {
      offline: false, latency: 0, downloadThroughput: bytes, uploadThroughput: -1,
    })
  }
}

// A Download is one that the browser has begun.
class Download {
  constructor(guid, moves) {
    this.guid = guid
    this.moves = moves
  }

  // moving waits for its first bytes.
  async moving() {
    await this.moves.first('the first bytes', (move) => move.guid === this.guid && move.receivedBytes > 0)
  }

  // end is its last state: completed, with filePath, or canceled, which stands
  // for every failure.
  async end() {
    return this.moves.first('the end of a download', (move) => move.guid === this.guid && move.state !== 'inProgress')
  }
}

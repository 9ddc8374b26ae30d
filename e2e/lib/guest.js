import assert from 'node:assert/strict'

import { Visitor } from './browser.js'
import { clientHeader } from './front.js'
import { Guard } from './guard.js'
import { spoken } from './words.js'

let guests = 0

// clientAddress returns an address that no other guest of this process has.
function clientAddress() {
  guests++
  return `198.18.${guests >> 8}.${guests & 255}`
}

// A Guest is a visitor of the pages of pushbox. Anything that goes wrong in the browser
// fails the test when the guest leaves.
export class Guest extends Visitor {
  #left = false

  // arrive opens a browser window for a guest.
  //   at: the address of the server
  //   home: the origins that requests may go to, if more than at
  //   script: whether scripts run
  //   width: of the window
  //   touch: whether the device is a phone, without a mouse
  //   locale, zone, theme, motion: the preferences of the browser
  static async arrive(browser, options) {
    const { at, home = [at], script = true, width = 1280, touch = false } = options
    const { locale = spoken === 'en' ? 'en-GB' : spoken, zone = 'UTC', theme = 'light', motion = 'no-preference' } = options
    const window = {
      javaScriptEnabled: script,
      viewport: { width, height: 800 },
      isMobile: touch,
      hasTouch: touch,
      locale,
      timezoneId: zone,
      colorScheme: theme,
      reducedMotion: motion,
      extraHTTPHeaders: { [clientHeader]: clientAddress() },
    }
    const guest = await super.arrive(browser, window, async (context) => Guard.watch(context, home))
    guest.at = at
    guest.script = script
    return guest
  }

  get guard() {
    return this.watched
  }

  // go opens a path of the server, or a whole address, and returns the response.
  async go(where) {
    return this.page.goto(new URL(where, this.at).href)
  }

  // foresee announces statuses or messages that the browser will report.
  foresee(...all) {
    this.guard.foresee(...all)
  }

  // press presses a button by its name, and waits for the page that it leads to.
  async press(name, within = this.page) {
    await within.getByRole('button', { name, exact: typeof name === 'string' }).click()
  }

  // heading is the main heading of the page.
  async heading() {
    return this.page.getByRole('heading', { level: 1 }).innerText()
  }

  // text returns the visible text of the page.
  async text() {
    return this.page.locator('main').innerText()
  }

  // pwned reports whether hostile content was run.
  async pwned() {
    return this.page.evaluate(() => window.pwned)
  }

  // leave closes the window, and fails if anything went wrong. A second call does nothing.
  async leave() {
    if (this.#left) return
    this.#left = true
    const open = this.context.pages()
    const run = await Promise.all(open.map((page) => page.evaluate(() => window.pwned).catch(() => undefined)))
    await super.leave()
    assert.deepEqual(this.guard.wrong, [])
    assert.deepEqual(run.filter(Boolean), [])
  }
}

import assert from 'node:assert/strict'
import { after, before } from 'node:test'

import { Visitor, openBrowser } from './browser.js'
import { Front } from './front.js'
import { Guest } from './guest.js'
import { Pushbox } from './pushbox.js'
import { Site } from './site.js'

// hostName is the host of pushbox for visitors that come through a front.
export const hostName = 'pushbox.test'

// setScene gives the tests of a file a server with settings, another site with pages, and
// a browser. visit adds a visitor for one test. guest adds one on the pages of pushbox,
// over HTTPS by default.
export function setScene(settings, pages = {}, { empty = false, open = openBrowser } = {}) {
  const scene = {}
  before(async () => {
    scene.pushbox = await Pushbox.start(settings, empty)
    scene.site = await Site.open(pages)
    scene.secure = await Front.open(scene.pushbox.url, 'https', hostName)
    scene.plain = await Front.open(scene.pushbox.url, 'http', hostName)
    scene.browser = await open()
  })
  after(async () => {
    const all = [
      scene.browser?.close(),
      scene.site?.close(),
      scene.secure?.close(),
      scene.plain?.close(),
      scene.pushbox?.stop(),
    ]
    await Promise.all(all)
  })
  scene.visit = async (t) => {
    const visitor = await Visitor.arrive(scene.browser)
    t.after(() => visitor.leave())
    return visitor
  }
  scene.guest = async (t, options = {}) => {
    const guest = await Guest.arrive(scene.browser, { at: scene.secure.url, ...options })
    t.after(() => guest.leave())
    return guest
  }
  let accounts = 0
  scene.account = async () => scene.pushbox.account(`person${++accounts}@example.com`)
  scene.administrator = async () => {
    const account = await scene.account()
    await scene.pushbox.grant(account)
    return account
  }
  // unheard fails if the server was sent one of these texts over HTTPS.
  scene.unheard = (...texts) => {
    const all = Buffer.concat(scene.secure.heard)
    for (const text of texts) assert.equal(all.indexOf(text), -1, `the server was sent ${text}`)
  }
  // link returns the link of a push at a front.
  scene.link = (push, { url } = scene.secure) => new URL(new URL(push.html_url).pathname, url).href
  return scene
}

import { after, before } from 'node:test'

import { Visitor, openBrowser } from './browser.js'
import { Pushbox } from './pushbox.js'
import { Site } from './site.js'

// setScene gives the tests of a file a server, with settings, another site, with
// pages, and a browser. visit adds a visitor for one test.
export function setScene(settings, pages = {}) {
  const scene = {}
  before(async () => {
    scene.pushbox = await Pushbox.start(settings)
    scene.site = await Site.open(pages)
    scene.browser = await openBrowser()
  })
  after(async () => {
    const all = [scene.browser?.close(), scene.site?.close(), scene.pushbox?.stop()]
    await Promise.all(all)
  })
  scene.visit = async (t) => {
    const visitor = await Visitor.arrive(scene.browser)
    t.after(() => visitor.leave())
    return visitor
  }
  return scene
}

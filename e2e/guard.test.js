import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Guest } from './lib/guest.js'
import { look } from './lib/look.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'

const policy = `<meta http-equiv="Content-Security-Policy" content="script-src 'nonce-1'">`

// Pages that do what no page of pushbox may do, and the report of the guard.
const bad = {
  '/console': { page: '<script>console.warn("hm")</script>', wrong: /^on the console: hm/ },
  '/error': { page: '<script>throw new Error("oh")</script>', wrong: /^an error of a script: Error: oh/ },
  '/policy': {
    page: `${policy}<p onclick="1"><script nonce="1">document.querySelector('p').click()</script>`,
    wrong: /^on the console: (stopped by the policy|Refused|Executing inline)/,
  },
  '/elsewhere': {
    page: '<img src="http://elsewhere.test:1/a.png">',
    wrong: /^a request to elsewhere: http:\/\/elsewhere\.test/,
  },
  '/dialog': { page: '<script>alert("hello")</script>', wrong: /^a dialog: hello/ },
  '/missing': { page: '<img src="/nothing.png">', wrong: /^on the console: Failed to load resource: .* 404/ },
}

const frame = (page) => `<!doctype html><html lang="en"><title>a page</title><link rel="icon" href="data:,">${page}`
const scene = setScene(
  {},
  {
    ...Object.fromEntries(Object.entries(bad).map(([path, { page }]) => [path, frame(page)])),
    '/pale': frame('<main><h1>A page</h1><p style="color: #ddd; background: #fff">pale'),
    '/wide': frame('<main><h1>A page</h1><p id="a-very-wide-box" style="width: 500px">wide'),
  },
)

for (const [path, { wrong }] of Object.entries(bad)) {
  test(`the guard reports a faulty page: ${path}`, async () => {
    const guest = await Guest.arrive(scene.browser, { at: scene.site.url })
    await guest.go(path)
    await guest.page.waitForLoadState('networkidle')
    await assert.rejects(guest.leave())
    assert.ok(
      guest.guard.wrong.some((what) => wrong.test(what)),
      guest.guard.wrong.join('\n'),
    )
  })
}

test('the guard reports a hostile text that ran', async () => {
  const guest = await Guest.arrive(scene.browser, { at: scene.site.url })
  await guest.go('/console')
  await guest.page.evaluate(() => {
    window.pwned = true
  })
  guest.guard.wrong.length = 0
  await assert.rejects(guest.leave())
})

test('unreadable text and elements that are too wide are found', async (t) => {
  const guest = await scene.guest(t, { at: scene.site.url })
  await guest.go('/pale')
  await assert.rejects(look(guest, 'pale'), /color-contrast/)
  await guest.go('/wide')
  await assert.rejects(look(guest, 'wide'), /a-very-wide-box/)
})

// The codes of RFC 6238, appendix B; an app shows the last six digits.
test('codes of the second factor agree with the standard', (t) => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  t.mock.timers.enable({ apis: ['Date'], now: 59_000 })
  assert.equal(codeOf(secret), '287082')
  t.mock.timers.setTime(1111111109_000)
  assert.equal(codeOf(secret), '081804')
  t.mock.timers.setTime(20000000000_000)
  assert.equal(codeOf(secret), '353130')
})

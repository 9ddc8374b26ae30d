// What is measured on pages: nothing moves while they load, no address breaks inside its cell, a finger finds every
// target, and links of one text lead to one place.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, askFor, makePush, openPush } from './lib/acts.js'
import { setScene } from './lib/scene.js'

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_POLICIES: '[{name: finance, kinds: [text]}]' })
const long = 'maximiliane.mustermann-obermeier@subsidiary.example.com'

// A guest who is signed in as an administrator, has secrets and a request, and has a colleague with a long address.
async function busy(t, options) {
  const guest = await scene.guest(t, options)
  const account = await scene.administrator()
  await arriveSignedIn(guest, account)
  for (const name of ['for the printer', long]) await scene.pushbox.create({ payload: 'x', name }, account)
  return { guest, account }
}

const lists = ['/p', '/requests', '/users/sessions', '/users/token', '/users/webhooks', '/admin', '/admin/accounts', '/admin/log']

test('no address breaks inside its cell', async (t) => {
  const person = await scene.pushbox.account(long)
  await scene.pushbox.govern(person, 'finance')
  await scene.pushbox.grant(person)
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, person)
  await scene.pushbox.create({ payload: 'x' }, person)
  await askFor(guest, {})
  let found = 0
  for (const width of [1366, 375]) {
    await guest.page.setViewportSize({ width, height: 700 })
    for (const path of lists) {
      await guest.go(path)
      const lines = await guest.page.evaluate((address) => {
        const all = []
        const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
          const from = text.data.indexOf(address)
          if (from < 0 || !text.parentElement.closest('table') || !text.parentElement.checkVisibility()) continue
          const range = document.createRange()
          range.setStart(text, from)
          range.setEnd(text, from + address.length)
          all.push(new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size)
        }
        return all
      }, long)
      found += lines.length
      assert.ok(lines.every((n) => n === 1), `${path} at ${width}: ${lines} lines`)
    }
  }
  assert.ok(found >= 6, `${found} addresses`)
})

// A target's label is part of it. A link within a sentence, and what only scripts or screen readers use, needs no room.
const small = () => [...document.querySelectorAll('a, button, summary, input:not([type=hidden]), select, textarea')].flatMap((el) => {
  if (!el.checkVisibility({ visibilityProperty: true }) || el.closest('.unseen, .skip') || el.matches('.skip')) return []
  const alone = getComputedStyle(el).display !== 'inline' || el.closest('p, li, dd, td, figcaption, .hint')?.textContent.trim() === el.textContent.trim()
  if (el.matches('a') && !alone) return []
  const boxes = [el, ...(el.labels ?? [])].map((part) => part.getBoundingClientRect()).filter(({ width }) => width > 1)
  const [width, height] = ['width', 'height'].map((side) => Math.max(0, ...boxes.map((box) => box[side])))
  return height >= 43.5 && width >= 24 ? [] : [`${el.outerHTML.slice(0, 90)}: ${Math.round(width)} × ${Math.round(height)}`]
})

test('a finger finds every target', async (t) => {
  const { guest } = await busy(t, { touch: true, width: 375 })
  const wrong = {}
  const check = async (name) => {
    await guest.ready()
    const found = await guest.page.evaluate(small)
    if (found.length) wrong[name] = found
  }
  for (const path of ['/', '/users/account', '/users/mfa', '/users/password', '/requests/new', '/help/api', ...lists]) {
    await guest.go(path)
    await check(path)
  }
  const link = await makePush(guest, { payload: 'x' })
  await check('receipt')
  await guest.go(link)
  await check('step')
  await openPush(scene, guest, await scene.pushbox.create({ payload: 'x' }))
  await guest.page.locator('#secret').waitFor()
  await check('reveal')
  await guest.context.clearCookies()
  await guest.go('/users/sign_in')
  await check('sign-in')
  assert.deepEqual(wrong, {})
})

test('links of one text lead to one place', async (t) => {
  const { guest } = await busy(t)
  for (const path of ['/', '/users/account', ...lists]) {
    await guest.go(path)
    const same = await guest.page.evaluate(() => {
      const places = {}
      for (const link of document.querySelectorAll('a[href]')) if (link.checkVisibility()) {
        const name = link.ariaLabel ?? link.textContent.trim()
        ;(places[name] ??= new Set()).add(link.href)
      }
      return Object.entries(places).filter(([, all]) => all.size > 1).map(([name]) => name)
    })
    assert.deepEqual(same, [], path)
  }
})

test('nothing moves while a page loads', async (t) => {
  const { guest } = await busy(t)
  await guest.context.addInitScript(() => {
    globalThis.shifts = []
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) globalThis.shifts.push(`${value}: ${sources.map(({ node }) => node?.nodeName)}`)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const step = scene.link(await scene.pushbox.create({ payload: 'x', passphrase: 'x' }))
  for (const width of [1366, 375]) {
    await guest.page.setViewportSize({ width, height: 667 })
    for (const path of ['/', step, '/users/account', ...lists]) {
      await guest.go(path)
      await guest.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))
      assert.deepEqual(await guest.page.evaluate(() => globalThis.shifts), [], `${path} at ${width}`)
    }
  }
})

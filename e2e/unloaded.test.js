// A page whose scripts come late, in part or not at all, or whose answers come from elsewhere, sends
// nothing in clear that was to be encrypted, and loses nothing.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveNew, ask, askFor, chooseKind, fillPush, madeLink, makePush, sendPush } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000', PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '10000',
})

const heard = (text) => Buffer.concat(scene.secure.heard).includes(text)

// without has a script be missing.
async function without(guest, script) {
  guest.foresee(/ERR_FAILED/, /stored is not/, /dynamically imported/)
  await guest.page.route(new RegExp(`/assets/${script}[^/]*\\.js$`), (route) => route.abort())
}

test('nothing is sent before the script has come that says whether it is encrypted', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await guest.go('/')
  await fillPush(guest, { encrypt: true })
  await page.locator('#remember').check()
  for (const [script, path, field] of [['create', '/', '#payload'], ['ask', '/requests/new', '#text']]) {
    await without(guest, script)
    await guest.go(path)
    await page.locator(field).fill(`unencrypted-${script}`)
    await page.locator(field).press('Control+Enter')
    await page.locator('.late').first().waitFor()
    assert.equal(await page.locator('#sending').isVisible(), false)
    assert.equal(await page.locator(field).inputValue(), `unencrypted-${script}`)
    assert.equal(heard(`unencrypted-${script}`), false)
  }
  await page.unrouteAll()
})

test('what was typed for another kind stays in the browser', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await guest.go('/')
  await fillPush(guest, { payload: 'left-in-the-text', encrypt: true })
  await chooseKind(guest, 'url')
  await page.locator('#url').fill('https://example.com/')
  await sendPush(guest)
  await madeLink(guest)
  await guest.go('/')
  await fillPush(guest, { encrypt: true })
  await page.locator('[for=kind-login]').click()
  await page.locator('#login-password').fill('left-in-the-login')
  await chooseKind(guest, 'qr')
  await page.locator('#payload').fill('of the code')
  await sendPush(guest)
  await madeLink(guest)
  assert.equal(heard('of the code'), true)
  for (const left of ['left-in-the-text', 'left-in-the-login']) assert.equal(heard(left), false, left)
})

test('a page in another tab does not forget what this one has remembered', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await guest.go('/')
  const other = await page.context().newPage()
  await other.goto(`${guest.at}/`)
  await other.locator('#more summary').click()
  await other.locator('#encrypt').check()
  await other.locator('#remember').check()
  await page.locator('#more summary').click()
  await page.waitForFunction(() => document.querySelector('#more').open)
  await other.reload()
  assert.equal(await other.locator('#encrypt').isChecked(), true)
  // Nor does one that remembers, too, and knows an older choice.
  await page.reload()
  await other.locator('#encrypt').uncheck()
  await other.reload()
  await page.waitForFunction(() => !JSON.parse(localStorage.push).encrypt) // another process may see it later
  await page.locator('#views').fill('3')
  await page.locator('#views').blur()
  await page.waitForFunction(() => JSON.parse(localStorage.push).views === '3')
  assert.equal(await page.locator('#encrypt').isChecked(), true)
  await other.reload()
  assert.equal(await other.locator('#encrypt').isChecked(), false)
  await other.close()
})

test('a receipt shows no link without its key', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await without(guest, 'receipt')
  await guest.go('/')
  await fillPush(guest, { payload: 'with a key', encrypt: true })
  await sendPush(guest)
  await page.getByText(say('request_unloaded')).waitFor()
  for (const part of ['#link', '#words']) assert.equal(await page.locator(part).isVisible(), false)
  await page.unrouteAll()
  await page.reload()
  await page.locator('#link').waitFor()
  assert.match(await page.locator('#link').inputValue(), /#a[\w-]{48}$/)
})

test('a form for an answer whose script is missing says so', async (t) => {
  const { guest } = await arriveNew(scene, t)
  for (const encrypt of [true, false]) {
    const { link } = await askFor(guest, { encrypt })
    const sender = await scene.guest(t)
    await without(sender, 'send')
    await sender.go(link)
    await sender.page.locator('#closed').getByText(say('answer_unloaded')).waitFor()
    assert.equal(await sender.page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
  }
})

test('a form that is led to another page has made nothing, and keeps what was typed', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  t.after(() => { scene.secure.moved = (to) => to })
  for (const [to, encrypt] of [['/requests/new', true], ['/requests/new', false], ['/requests', false], ['/', true]]) {
    await guest.go('/requests/new')
    await page.locator('#text').fill('typed once')
    await page.locator('details.more').evaluate((more) => { more.open = true })
    await page.locator('#encrypt').setChecked(encrypt)
    scene.secure.moved = () => to
    await guest.press(say('create_submit'))
    await page.locator('#failed').getByText(say('create_connection_lost')).waitFor()
    scene.secure.moved = (to) => to
    assert.equal(await page.locator('#text').inputValue(), 'typed once')
    assert.equal(new URL(page.url()).hash, '')
  }
  await ask(guest, { text: 'and then for good', encrypt: true })
})

test('while the next page is late, nothing is sent again, and a link leads there', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  let posts = 0
  page.on('request', (request) => { posts += request.method() === 'POST' })
  await guest.go('/requests/new')
  await page.locator('#ask').evaluate((form) => form.addEventListener('made', (event) => event.preventDefault())) // it never comes by itself
  await page.locator('#text').fill('once')
  await guest.press(say('create_submit'))
  await page.locator('#sent a').waitFor()
  assert.equal(await page.locator('#sending button:visible').count(), 0)
  await page.locator('#ask').evaluate((form) => form.requestSubmit())
  await page.locator('#sent a').click()
  await page.locator('#link').waitFor()
  assert.equal(posts, 1)
})

test('what was opened says that scripts are missing which decrypt it', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const link = await makePush(guest, { payload: 'with a key', encrypt: true, views: 5 })
  for (const script of ['encrypted', 'endtoend']) {
    const recipient = await scene.guest(t)
    const { page } = recipient
    await recipient.go(link)
    await page.locator('#open').waitFor()
    await without(recipient, script)
    await recipient.press(say('step_open'))
    await page.locator('#unreadable').getByText(say('reveal_scripts')).waitFor()
    assert.equal(await page.locator('#secret').isVisible(), false)
  }
})

test('a name and a note that a form without an account lacks are still there', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  guest.foresee(422)
  await guest.go('/')
  await fillPush(guest, { payload: 'typed once', name: 'of the push', note: 'and why' })
  await page.context().clearCookies()
  await sendPush(guest)
  await page.locator('#failed').getByText(say('create_signed_out')).waitFor()
  for (const [id, value] of [['#payload', 'typed once'], ['#name', 'of the push'], ['#note', 'and why']]) assert.equal(await page.locator(id).inputValue(), value)
})

test('a request whose page came late shows its link', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  guest.foresee(/ERR_FAILED/)
  let late = true
  await page.route(/\/requests\/(?!new)[^/]+$/, (route) => late ? route.abort() : route.continue())
  await guest.go('/requests/new')
  await page.locator('#text').fill('late')
  await page.locator('details.more').evaluate((more) => { more.open = true })
  await page.locator('#encrypt').setChecked(true)
  const aborted = page.waitForEvent('requestfailed')
  await guest.press(say('create_submit'))
  const address = (await aborted).url()
  late = false
  await page.clock.setFixedTime(Date.now() + 3_600_000)
  await page.goto(address)
  await page.locator('#link').waitFor()
})

test('a text that was typed before the scripts came is in the login that takes its place', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  let release
  const held = new Promise((resolve) => { release = resolve })
  await page.route(/\/assets\/create[^/]*\.js$/, (route) => held.then(() => route.continue()))
  await page.goto(`${guest.at}/`, { waitUntil: 'commit' })
  await page.locator('#payload').fill('a note of two lines\nthat was typed early')
  await page.locator('details.more').evaluate((more) => { more.open = true })
  await page.locator('[for=kind-login]').click()
  await page.locator('#login-user').fill('ann')
  release()
  await page.waitForFunction(() => document.querySelector('#payload').value === '')
  assert.equal(await page.locator('#login-note').inputValue(), 'a note of two lines\nthat was typed early')
})

test('an address that no longer counts does not stop a text', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await guest.go('/')
  await chooseKind(guest, 'url')
  await page.locator('#url').fill('no address')
  await chooseKind(guest, 'text')
  await page.locator('#payload').fill('a text')
  await sendPush(guest)
  await madeLink(guest)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, chooseKind, fillPush, madeLink, sendPush, skipChecks } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

// An account that has one push may have no other.
const scene = setScene({ PUSHBOX_ALLOW_ANONYMOUS: 'false', PUSHBOX_LIMITS_ACCOUNT_PUSHES: '1', PUSHBOX_LIMITS_MAX_BODY: '2MiB' })

// arrive opens the form as a signed-in guest.
async function arrive(t) {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  await guest.go('/')
  return { guest, account }
}

const payloads = { text: 'typed once,\nkept here', url: 'https://example.com/only-here', qr: 'WIFI:T:WPA;S:café;P:secret;;' }
const typedIn = async (guest) => guest.page.locator('#payload:visible, #url:visible').inputValue()
const failed = async (guest, words) => guest.page.locator('#failed').getByText(words).waitFor()

for (const [kind, payload] of Object.entries(payloads))
  test(`a ${kind} push survives a lost connection`, async (t) => {
    const { guest, account } = await arrive(t)
    guest.foresee(/ERR_INTERNET_DISCONNECTED/)
    await fillPush(guest, { kind, payload, passphrase: 'open sesame' })
    await guest.context.setOffline(true)
    await sendPush(guest)
    await failed(guest, say('create_connection_lost'))
    assert.equal(await guest.page.evaluate(() => document.activeElement.id), 'failed')
    assert.equal(await typedIn(guest), payload)
    assert.equal(guest.guard.asked, 0)
    await guest.go('about:blank')
    assert.equal(guest.guard.asked, 1)
    await guest.context.setOffline(false)
    assert.deepEqual(await scene.pushbox.active(account), [])
  })

test('a text stays when the server has no room for it', async (t) => {
  const { guest, account } = await arrive(t)
  guest.foresee(429)
  const push = await scene.pushbox.create({ payload: 'the only one' }, account)
  await fillPush(guest, { payload: payloads.text })
  await sendPush(guest)
  await failed(guest, say('problem_too_many_pushes_title'))
  assert.equal(await typedIn(guest), payloads.text)
  await scene.pushbox.expire(push, account)
  await sendPush(guest)
  await madeLink(guest)
})

// What one types for each kind, a login among them, and where.
const typed = {
  text: { '#payload': payloads.text }, url: { '#url': payloads.url }, qr: { '#payload': payloads.qr },
  login: { '#login-user': 'ann', '#login-password': 'two words', '#login-note': 'and\nmore' },
}
const type = async ({ page }, kind) => {
  for (const [field, text] of Object.entries(typed[kind])) await page.locator(field).fill(text)
}
const assertKept = async ({ page }, kind, when) => {
  for (const [field, text] of Object.entries(typed[kind])) assert.equal(await page.locator(field).inputValue(), text, `${kind}, ${when}`)
}

// choose chooses a kind, or the login, which is one or a switch of the text.
async function choose(guest, kind) {
  const isKind = await guest.page.locator('#kind-login').count()
  const [login, more] = [guest.page.locator('#login'), guest.page.locator('#more')]
  await chooseKind(guest, kind === 'login' && !isKind ? 'text' : kind)
  if (isKind || !['text', 'login'].includes(kind)) return
  await more.evaluate((details) => { details.open = true })
  await login.setChecked(kind === 'login')
}

for (const status of [413, 429, 503, 507])
  test(`each kind stays when the answer is ${status}`, async (t) => {
    const { guest } = await arrive(t)
    guest.foresee(status)
    for (const kind of Object.keys(typed)) {
      await guest.go('/')
      await choose(guest, kind)
      await type(guest, kind)
      await guest.page.route(`${guest.at}/`, (route) => route.fulfill({ status, contentType: 'text/html', body: '<main><h1>Not now</h1><p class="lead">It is full.</p></main>' }))
      await sendPush(guest)
      await failed(guest, 'Not now. It is full.')
      await assertKept(guest, kind, 'refused')
      await guest.page.unroute(`${guest.at}/`)
    }
    await sendPush(guest)
    await madeLink(guest)
  })

test('a text that is larger than a whole request may be stays', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(413)
  await guest.page.locator('#create').evaluate((form) => { form.dataset.longest = 1 << 30 })
  await fillLong(guest, 'x', 5 << 19)
  await sendPush(guest)
  await failed(guest, say('problem_payload_too_large_title'))
  assert.equal((await typedIn(guest)).length, 5 << 19)
})

test('a login survives a lost connection', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(/ERR_INTERNET_DISCONNECTED/)
  await choose(guest, 'login')
  await type(guest, 'login')
  await guest.context.setOffline(true)
  await sendPush(guest)
  await failed(guest, say('create_connection_lost'))
  await assertKept(guest, 'login', 'without a connection')
  await guest.context.setOffline(false)
  await sendPush(guest)
  await madeLink(guest)
})

test('what was typed for a kind is there again when that is chosen again', async (t) => {
  const { guest } = await arrive(t)
  for (const kind of Object.keys(typed)) {
    await guest.go('/')
    await choose(guest, kind)
    await type(guest, kind)
    for (const other of [...Object.keys(typed), 'file']) {
      await choose(guest, other)
      await choose(guest, kind)
      await assertKept(guest, kind, `after ${other}`)
    }
  }
})

test('the browser asks before one goes back or forward from what was typed, which stays', async (t) => {
  const { guest } = await arrive(t)
  const { page, guard } = guest
  await guest.go('/users/sessions')
  for (const kind of Object.keys(typed)) {
    await guest.go('/')
    await guest.go('/users/sessions')
    await page.goBack({ waitUntil: 'commit' })
    await guest.wholePage({ level: 1, name: say('create_heading') })
    await choose(guest, kind)
    await type(guest, kind)
    guard.stays = true
    for (const way of ['back', 'forward']) {
      const asked = page.waitForEvent('dialog')
      await page.evaluate((way) => history[way](), way)
      await asked
      await assertKept(guest, kind, way)
    }
    guard.stays = false
  }
  await sendPush(guest)
  await madeLink(guest)
})

test('a text stays when its session has ended', async (t) => {
  const { guest, account } = await arrive(t)
  await fillPush(guest, { payload: payloads.text })
  const cookies = await guest.context.cookies()
  await guest.context.clearCookies()
  await sendPush(guest)
  await failed(guest, say('create_signed_out'))
  assert.equal(await typedIn(guest), payloads.text)
  assert.deepEqual(await scene.pushbox.active(account), [])
  await guest.context.addCookies(cookies)
  await sendPush(guest)
  await madeLink(guest)
})

// fillLong fills in a text of that many characters.
const fillLong = async (guest, letter, length) => guest.page.locator('#payload:visible, #url:visible').evaluate((field, text) => { field.value = text }, letter.repeat(length))

test('a text that is too long is not sent, and stays', async (t) => {
  const { guest } = await arrive(t)
  const before = guest.guard.requests.mark()
  for (const [letter, length] of [['x', (1 << 20) + 1], ['é', (1 << 19) + 1]]) {
    await fillLong(guest, letter, length)
    await sendPush(guest)
    await failed(guest, say('create_bad_long', { max: '1\u00a0MiB' }))
    assert.equal((await typedIn(guest)).length, length)
  }
  await fillPush(guest, { encrypt: true })
  await fillLong(guest, 'x', (768 << 10) - 1023)
  await sendPush(guest)
  await failed(guest, say('create_bad_long', { max: '767\u00a0KiB' }))
  assert.deepEqual(guest.guard.requests.entries.slice(before).filter(({ method }) => method === 'POST'), [])
  await fillLong(guest, 'x', (768 << 10) - 1024)
  await sendPush(guest)
  await madeLink(guest)
})

test('what the server refuses as too long stays as well', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(422)
  await skipChecks(guest)
  await guest.page.locator('#create').evaluate((form) => { form.dataset.longest = 2 << 20 })
  await fillPush(guest, { note: 'n'.repeat(11 << 10) })
  await fillLong(guest, 'x', 1_100_000)
  await sendPush(guest)
  await guest.page.locator('.problems').getByText(say('create_bad_long', { max: '1\u00a0MiB' })).waitFor()
  assert.equal((await typedIn(guest)).length, 1_100_000)
  assert.equal((await guest.page.locator('#note').inputValue()).length, 11 << 10)
  await fillPush(guest, { payload: 'short', note: '' })
  await sendPush(guest)
  await madeLink(guest)
})

test('an encrypted login stays in its fields when the form comes back', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(422)
  await skipChecks(guest)
  await fillPush(guest, { views: 1000, encrypt: true })
  await chooseKind(guest, 'login')
  await guest.page.locator('#login-user').fill('ann')
  await guest.page.locator('#login-password').fill('two words')
  await sendPush(guest)
  await guest.page.locator('.problems').getByText(say('create_bad_views', { min: 1, max: 100 })).waitFor()
  assert.equal(await guest.page.locator('#kind-login').isChecked(), true)
  assert.deepEqual(await Promise.all(['user', 'password'].map((part) => guest.page.locator(`#login-${part}`).inputValue())), ['ann', 'two words'])
})

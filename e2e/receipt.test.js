import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveNew, fillPush, madeLink, makePush, sendPush, tokenOf } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_LIMITS_PASSPHRASES_PER_LIFE: '3', PUSHBOX_LIMITS_PASSPHRASES_PER_CLIENT: '1000' })

const open = async (link) => (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).json()
const event = (guest, kind) => guest.page.locator('.events').getByText(say(`audit_kind_${kind}`), { exact: true })

test('a receipt shows by itself that its link was opened, and that the push ended', async (t) => {
  const guest = await scene.guest(t, { zone: 'America/New_York' })
  await guest.page.clock.install()
  const link = await makePush(guest, { payload: 'x', views: 2 })
  await open(link)
  await guest.page.clock.runFor(15_000)
  await event(guest, 'view').waitFor()
  await guest.page.locator('#said').getByText(say('audit_kind_view')).waitFor({ state: 'attached' })
  assert.equal(await guest.page.locator('.events time[title$=ST],.events time[title$=DT]').count(), 2) // the sender's zone is shown
  assert.equal(await guest.page.locator('#link').inputValue(), link)

  await open(link)
  await guest.page.clock.runFor(15_000)
  await guest.page.getByRole('heading', { name: say('list_state_viewed') }).waitFor()
  assert.equal(await guest.page.locator('#link').count(), 0)
  const before = guest.guard.requests.mark()
  await guest.page.clock.runFor(3_600_000)
  assert.equal(guest.guard.requests.mark(), before)
})

for (const encrypt of [false, true])
  test(`the sender of ${encrypt ? 'an encrypted' : 'a'} push thaws it on the receipt`, async (t) => {
    const guest = await scene.guest(t)
    const { page } = guest
    await page.clock.install()
    await guest.go('/')
    await fillPush(guest, { payload: 'x', passphrase: 'right', encrypt })
    await sendPush(guest)
    const link = await madeLink(guest)
    const tried = async (passphrase) => (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`, { headers: { 'X-Push-Passphrase': passphrase } })).status
    assert.equal(await page.locator('#frozen').isVisible(), false)
    for (let i = 0; i < 3; i++) assert.equal(await tried('wrong'), 401)
    assert.equal(await tried('right'), 403)
    await page.clock.runFor(15_000)
    await page.getByText(say('thaw_why')).waitFor()
    await guest.press(say('thaw_now'))
    await page.getByText(say('notice_thawed')).waitFor()
    await event(guest, 'thaw').waitFor()
    assert.equal(await madeLink(guest), link)
    assert.equal(await page.locator('#frozen').isVisible(), false)
    assert.equal(await tried('right'), 200)
  })

test('a receipt asks less and less often, and not while it is hidden', async (t) => {
  const guest = await scene.guest(t)
  await guest.page.clock.install()
  await makePush(guest, { payload: 'x' })
  await guest.page.evaluate(() => {
    window.times = [performance.now()]
    XMLHttpRequest.prototype.send = function () {
      window.times.push(performance.now())
      this.onloadend()
    }
  })
  const turn = (hidden) => guest.page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
  const times = async () => {
    await guest.page.clock.runFor(6 * 3_600_000)
    return guest.page.evaluate(() => window.times)
  }
  await turn(true)
  assert.equal((await times()).length, 1)
  await turn(false)
  const all = (await times()).slice(1)
  const gaps = all.slice(1).map((at, i) => at - all[i])
  assert.ok(all.length > 10 && all.length < 25, String(all))
  assert.ok(gaps[0] >= 14_900 && gaps.every((gap, i) => i === 0 || gap > gaps[i - 1]), String(gaps))
})

test('the message tells the time in the zone of the sender', async (t) => {
  for (const [zone, name] of [['America/New_York', 'E[SD]T'], ['UTC', 'UTC']]) {
    const guest = await scene.guest(t, { zone, locale: 'en-US' })
    await makePush(guest, { payload: 'x' })
    const local = await guest.page.locator('#ends time').textContent()
    const words = await guest.page.locator('#words').inputValue()
    assert.match(words, new RegExp(`, until ${local} ${name}\\.`))
    const mail = new URL(await guest.page.locator('[href^="mailto:"]').getAttribute('href'))
    assert.equal(mail.searchParams.get('body').trim(), words.trim())
  }
})

for (const encrypt of [false, true])
  test(`the link is shared with its message where the browser can share${encrypt ? ', with its key' : ''}`, async (t) => {
    const guest = await scene.guest(t)
    const button = guest.page.locator('#share')
    await makePush(guest, { payload: 'x', encrypt })
    assert.equal(await button.isVisible(), false)
    await guest.page.addInitScript(() => {
      navigator.share = async (what) => { window.shared = what }
    })
    await guest.page.reload()
    await button.dispatchEvent('click')
    const { title, text, url } = await guest.page.evaluate(() => window.shared)
    assert.equal(title, say('step_title'))
    assert.equal(url, await guest.page.locator('#link').inputValue())
    assert.equal(new URL(url).hash !== '', encrypt)
    assert.equal(text.includes('http'), false)
    assert.equal(text.split('\n')[1], (await guest.page.locator('#words').inputValue()).split('\n')[1])
  })

test('news stand below the heading of the receipt', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  await makePush(guest, { payload: 'x' })
  await page.getByText(say('made_name'), { exact: true }).click()
  await page.locator('#naming input:not([type=hidden])').first().fill('for Bob')
  await page.locator('#naming button').click()
  await page.locator('h1 + .news').waitFor()
  assert.equal(await page.locator('.news').count(), 1)
})

test('back from the receipt the form is empty, so that nothing is sent twice', async (t) => {
  const guest = await scene.guest(t)
  await makePush(guest, { payload: 'once only' })
  await guest.page.goBack()
  await guest.page.waitForFunction(() => document.querySelector('#payload')?.value === '')
})

test('the browser that made a push is told so on its step, and another one what the receipt is', async (t) => {
  const [sender, other] = [await scene.guest(t), await scene.guest(t)]
  const link = await makePush(sender, { payload: 'x', step: false })
  const receipt = sender.page.url()
  assert.equal(await sender.page.getByText(say('receipt_elsewhere')).count(), 0)
  await sender.go(link)
  await sender.page.getByText(say('step_made')).waitFor()
  await other.go(receipt)
  await other.page.getByText(say('receipt_elsewhere')).waitFor()
  await other.go(link)
  await other.wholePage({ level: 1, name: say('reveal_title') })
})

test('a secret is sent again with the same options, whatever this browser remembers', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  await guest.go('/')
  await fillPush(guest, { payload: 'x', views: 9, deletable: true })
  await page.locator('#remember').check()
  await fillPush(guest, { views: 3, days: 5, deletable: false, encrypt: true })
  await page.locator('#typed').check()
  await page.locator('#views').evaluate(() => { localStorage.push = localStorage.push.replace('"views":"3"', '"views":"9"') })
  await sendPush(guest)
  await madeLink(guest)
  await page.getByText(say('receipt_same'), { exact: true }).click()
  await page.waitForURL('**/?*')
  const values = await page.evaluate(() => [
    ...['#payload', '#views', '#time', '#days'].map((id) => document.querySelector(id).value),
    ...['#typed', '#step', '#deletable', '#encrypt'].map((id) => document.querySelector(id).checked),
  ])
  assert.deepEqual(values.slice(0, 3), ['', '3', '10']) // 5 days have a code
  assert.deepEqual(values.slice(4), [true, true, false, true])
})

test('a new link takes the place of one that was not opened', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  const link = await makePush(guest, { payload: 'x', views: 4 })
  await page.getByText(say('receipt_anew'), { exact: true }).click()
  await guest.press(say('receipt_anew_now'))
  await page.getByText(say('notice_deleted_anew')).waitFor()
  assert.deepEqual(await page.evaluate(() => ['#payload', '#views'].map((id) => document.querySelector(id).value)), ['', '4'])
  assert.deepEqual([(await open(link)).deleted, (await open(link)).payload ?? ''], [true, ''])
})

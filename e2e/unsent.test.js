// A form for an answer keeps what was typed, whatever becomes of sending it.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveNew, askFor, sent } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000', PUSHBOX_LIMITS_MAX_BODY: '2MiB' })

const answer = 'typed once,\nkept here'

// arrive opens the form for an answer to a new request, and types one. Returns who asked, too, and the pages of both.
async function arrive(t, encrypt) {
  const { guest: asker } = await arriveNew(scene, t)
  const { own, link } = await askFor(asker, { encrypt })
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.go(link)
  await guest.page.locator('#payload').fill(answer)
  return { guest, asker, own, link }
}

const send = (guest) => guest.press(say('answer_send'))
const failed = (guest, words) => guest.page.locator('#failed').getByText(words).waitFor()
const assertKept = async ({ page }) => assert.equal(await page.locator('#payload').inputValue(), answer)
const post = /\/q\//

for (const encrypt of [false, true]) {
  const how = encrypt ? ', encrypted' : ''

  test(`an answer survives a lost connection${how}`, async (t) => {
    const { guest } = await arrive(t, encrypt)
    guest.foresee(/ERR_INTERNET_DISCONNECTED/)
    await guest.page.evaluate(() => import(document.forms[0].dataset.module ?? '').catch(() => {})) // it comes with the first answer
    await guest.context.setOffline(true)
    await send(guest)
    await failed(guest, say('answer_cut'))
    await assertKept(guest)
    await guest.context.setOffline(false)
    await send(guest)
    await sent(guest)
  })

  test(`an answer stays after each refusal${how}`, async (t) => {
    const { guest } = await arrive(t, encrypt)
    for (const status of [413, 429, 503, 507]) {
      guest.foresee(status)
      await guest.page.route(post, (route) => route.fulfill({ status, contentType: 'text/html', body: '<main><h1>Not now</h1><p class="lead">It is full.</p></main>' }))
      await send(guest)
      await failed(guest, 'Not now. It is full.')
      await assertKept(guest)
      await guest.page.unroute(post)
    }
    await send(guest)
    await sent(guest)
  })

  test(`an answer stays when the request has ended${how}`, async (t) => {
    const { guest, asker, own } = await arrive(t, encrypt)
    guest.foresee(404)
    await asker.go('about:blank')
    await asker.go(own)
    await asker.page.getByText(say('request_end'), { exact: true }).first().click()
    await asker.press(say('request_end_now'))
    await asker.page.getByText(say('notice_request_ended')).waitFor()
    await send(guest)
    await failed(guest, say('problem_request_over_title'))
    await assertKept(guest)
  })

  test(`the browser asks before one goes back or forward from an answer, which stays${how}`, async (t) => {
    const { guest, link } = await arrive(t, encrypt)
    const { page, guard } = guest
    await guest.go('/')
    await page.goBack({ waitUntil: 'commit' })
    await page.locator('#payload').fill(answer)
    guard.stays = true
    for (const way of ['back', 'forward']) {
      const asked = page.waitForEvent('dialog')
      await page.evaluate((way) => history[way](), way)
      await asked
      await assertKept(guest)
    }
    guard.stays = false
    assert.equal(page.url(), link)
    await send(guest)
    await sent(guest)
  })
}

test('an answer that the server refuses as too long stays', async (t) => {
  const { guest } = await arrive(t, false)
  guest.foresee(413, 422)
  for (const [length, told] of [[1_100_000, '.problems'], [5 << 19, '#failed']]) {
    await guest.page.locator('#payload').evaluate((field, length) => {
      field.form.dataset.longest = 1 << 30
      field.value = 'x'.repeat(length)
    }, length)
    await send(guest)
    await guest.page.locator(told).waitFor()
    assert.equal(await guest.page.locator('#payload').evaluate(({ value }) => value.length), length)
  }
})

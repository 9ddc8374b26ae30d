// What reaches the pages may be changed on the way, or be missing: data, headers, redirects and
// single scripts, though no script is another.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveNew, arriveSignedIn, ask, askFor } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_CLIENT_ENCRYPTION: 'default',
  PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000', PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '10000',
})

test('no link is shown once a redirect may have replaced the keys of a request', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  const own = await askFor(guest, { encrypt: true })
  const plain = await askFor(guest, { encrypt: false })
  const other = await askFor(guest, { encrypt: true })
  const { p256, x25519 } = await page.locator('#keyless').evaluate(({ dataset }) => ({ ...dataset }))
  const { hash } = new URL(other.own)
  let keys
  await page.route('**/requests/new', (route) => {
    const form = new URLSearchParams(route.request().postData())
    for (const [curve, key] of Object.entries(keys)) form.set(`public_key_${curve}`, key)
    return route.continue({ postData: form.toString() })
  })
  t.after(() => { scene.secure.moved = (to) => to })
  for (const [end, encrypt, put] of [[hash, true, { p256, x25519 }], ['#x', true, { p256: '', x25519: '' }], [hash, false, { p256, x25519 }]]) {
    keys = put
    scene.secure.moved = (to) => to + end
    await ask(guest, { encrypt })
    await page.getByText(say(encrypt ? 'request_changed' : 'request_keyless')).waitFor()
    if (encrypt) assert.match(page.url(), /#a[\w-]{91}$/)
    assert.notEqual(new URL(page.url()).hash, hash)
    for (const part of ['#link', '#words']) assert.equal(await page.locator(part).isVisible(), false)
  }
  scene.secure.moved = (to) => to
  const path = new URL(own.own).pathname
  for (const to of [other.own, `${plain.own}#x`, `${plain.own}#`]) { // in place of the page that was kept
    scene.secure.redirects.set(path, to)
    await guest.go('about:blank')
    await guest.go(own.own)
    for (const again of [false, true]) {
      if (again) await page.reload()
      await page.getByText(say('request_moved')).waitFor()
      for (const part of ['#link', '#words', '#mine', '.language']) assert.equal(await page.locator(part).isVisible(), false)
    }
  }
  scene.secure.redirects.delete(path)
  await guest.go('about:blank')
  await guest.go(own.own)
  await page.locator('#link').waitFor()
})

for (const [path, script, field, number] of [['/', 'send', '#payload', '#views'], ['/requests/new', 'ask', '#text', '#answers']]) {
  test(`${path} sends nothing until the script has come that encrypts it`, async (t) => {
    const { guest } = await arriveNew(scene, t)
    const { page } = guest
    const button = page.getByRole('button', { name: say('create_submit') })
    let release
    const held = new Promise((resolve) => { release = resolve })
    t.after(release)
    await page.route(`**/assets/*${script}*.js`, (route) => held.then(() => route.continue()).catch(() => {}))
    await page.goto(guest.at + path, { waitUntil: 'commit' })
    await page.getByText(say('answer_unloaded')).waitFor()
    await page.locator(field).fill('not in clear')
    await page.locator('details.more').first().evaluate((more) => { more.open = true })
    for (const part of [button, page.locator('#encrypt')]) assert.equal(await part.isVisible(), false)
    assert.equal(await page.getByText(say('create_sealed_encrypted')).isVisible(), false)
    await page.evaluate(() => { addEventListener('submit', () => { window.sends = true }, true) })
    await page.locator(number).press('Enter')
    assert.equal(await page.evaluate(() => window.sends), undefined)
    release()
    await button.waitFor()
    assert.equal(await page.locator('#encrypt').isChecked(), true)
    assert.equal(await page.getByText(say('answer_unloaded')).isVisible(), false)
  })
}

test('without scripts, who sends to or passes on a link that is not encrypted is told when not to', async (t) => {
  const { guest, account } = await arriveNew(scene, t)
  const { own, link } = await askFor(guest, { encrypt: false })
  const bare = await scene.guest(t, { script: false })
  await arriveSignedIn(bare, account)
  for (const [to, warning, part] of [[link, 'answer_bare', '#payload'], [own, 'request_bare', '#link']]) {
    await bare.go(to)
    assert.equal(await bare.page.locator('main > noscript .notice').innerText(), say(warning))
    assert.equal(await bare.page.locator(part).isVisible(), true)
    for (const late of ['answer_unloaded', 'request_unloaded']) assert.equal(await bare.page.getByText(say(late)).isVisible(), false)
  }
  await guest.page.reload()
  await guest.page.locator('#link').waitFor()
  assert.equal(await guest.page.getByText(say('request_unloaded')).count(), 0)
  guest.foresee(/ERR_FAILED/)
  await guest.page.route(/request[^k]*\.js/, (route) => route.abort()) // which might have warned
  await guest.page.reload()
  await guest.page.getByText(say('request_unloaded')).waitFor()
  for (const part of ['#link', '#words']) assert.equal(await guest.page.locator(part).isVisible(), false)
})

test('a form with errors takes the place of the same form alone', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const [{ link }, sender] = [await askFor(guest, { encrypt: true }), await scene.guest(t)]
  const page = async (path) => {
    await guest.go(path)
    return guest.page.content()
  }
  const create = await page('/')
  const bare = create.replace('id="encrypt"', '')
  const keyless = (await page(link)).replace(/data-keys="[^"]*"/, '')
  guest.foresee(422)
  sender.foresee(422)
  for (const [who, to, body, field, button, words] of [
    [sender, link, create, '#payload', 'answer_send', 'answer_cut'],
    [sender, link, keyless, '#payload', 'answer_send', 'answer_cut'],
    [guest, guest.at, bare, '#payload', 'create_submit', 'create_connection_lost'],
  ]) {
    await who.page.route(new RegExp(`^${to.replace(/#.*/, '')}/?$`), (route) => route.request().method() === 'POST' ? route.fulfill({ status: 422, contentType: 'text/html', body }) : route.continue())
    await who.go('about:blank')
    await who.go(to)
    await who.page.locator(field).fill('not in clear')
    for (let times = 0; times < 2; times++) {
      await who.press(say(button))
      await who.page.locator('#failed').getByText(say(words)).waitFor()
    }
    assert.equal(await who.page.locator(who === guest ? '#encrypt' : '#closed').count(), 1)
    await who.page.locator(field).fill('')
  }
  for (const { page } of [guest, sender]) await page.unrouteAll()
  scene.unheard('not in clear', 'not+in+clear')
})

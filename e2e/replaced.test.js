// What reaches the pages may be changed on the way, or be missing: data, headers, redirects and
// single scripts, though no script is another.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answer, arriveNew, arriveSignedIn, ask, askFor, makePush, opened, sent } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_CLIENT_ENCRYPTION: 'default',
  PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000', PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '10000',
})

// noLink waits until the page of a request says that a redirect led to it, and shows no link.
async function noLink(page) {
  await page.getByText(say('request_moved')).waitFor()
  for (const part of ['#link', '#words', '#mine']) assert.equal(await page.locator(part).isVisible(), false)
}

// leadAway puts a redirect in place of an address.
function leadAway(t, from, to) {
  const path = new URL(from).pathname
  scene.secure.redirects.set(path, to)
  t.after(() => scene.secure.redirects.delete(path))
  return path
}

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
    const form = route.request().postData()
    if (!form) return route.continue()
    const [boundary] = form.split('\r\n', 1)
    const parts = form.split(boundary).filter((part) => !part.includes('public_key_'))
    for (const [curve, key] of Object.entries(keys)) parts.splice(1, 0, `\r\nContent-Disposition: form-data; name="public_key_${curve}"\r\n\r\n${key}\r\n`)
    return route.continue({ postData: parts.join(boundary) })
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
      await noLink(page)
    }
  }
  scene.secure.redirects.delete(path)
  await guest.go('about:blank')
  await guest.go(own.own)
  await page.locator('#link').waitFor()
})

test('keys that a redirect put into an address stay marked wherever that is opened again', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  const [own, other, plain] = [await askFor(guest, { encrypt: true }), await askFor(guest, { encrypt: true }), await askFor(guest, { encrypt: false })]
  for (const to of [other.own, `${plain.own}#x`]) {
    const path = leadAway(t, own.own, to)
    await guest.go('about:blank')
    await guest.go(own.own)
    await noLink(page)
    scene.secure.redirects.delete(path)
    const address = page.url()
    await guest.go('about:blank')
    await guest.go(address)
    await noLink(page)
    await page.locator('.language summary').click()
    await page.locator('.language a[hreflang=en]').click()
    await page.waitForURL(/lang=en/)
    await noLink(page)
    await page.evaluate(() => { location.hash = 'main' })
    await page.waitForFunction((end) => location.hash === end, new URL(address).hash)
    await noLink(page)
  }
})

test('a request that was not made leaves no trust behind', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  const own = await askFor(guest, { encrypt: true })
  const plain = await askFor(guest, { encrypt: false })
  const fails = { // why, and what the page says
    keys: [true, '**/requestkeys*.js', 'create_encrypting_failed'],
    connection: [false, '**/requests/new', 'create_connection_lost'],
    'connection after the keys': [true, '**/requests/new', 'create_connection_lost'],
  }
  guest.foresee(/ERR_FAILED/, 422)
  for (const [name, [encrypt, what, words]] of Object.entries(fails)) {
    if (name === 'keys') await page.route(what, (route) => route.abort())
    await guest.go('/requests/new')
    await page.locator('#text').fill('not made')
    await page.locator('details.more').evaluate((more) => { more.open = true })
    await page.locator('#encrypt').setChecked(encrypt)
    if (name !== 'keys') await page.route(what, (route) => route.abort())
    await guest.press(say('create_submit'))
    await page.locator('#failed').getByText(say(words)).waitFor()
    assert.equal(await page.locator('#text').inputValue(), 'not made', name)
    await page.unrouteAll()
    const path = leadAway(t, own.own, `${plain.own}#x`)
    await guest.go(own.own)
    await noLink(page)
    scene.secure.redirects.delete(path)
  }
  await guest.go('/requests/new')
  await page.locator('details.more').evaluate((more) => { more.open = true })
  await page.locator('#encrypt').setChecked(true)
  await page.locator('#ask').evaluate((form) => { form.noValidate = true })
  await guest.press(say('create_submit'))
  await page.getByRole('alert').getByText(say('ask_bad_text')).first().waitFor()
  assert.equal(await page.locator('#encrypt').isChecked(), true)
  await page.locator('#text').fill('made')
  await guest.press(say('create_submit'))
  await page.locator('#mine').waitFor()
})

test('right after the form its keys count, whatever redirect comes, and only then', async (t) => {
  const plain = scene.plain.url
  const { guest } = await arriveNew(scene, t, { home: [scene.secure.url, plain] })
  const { page } = guest
  const other = await askFor(guest, { encrypt: true })
  scene.plain.redirects.set('/hop', other.own) // another origin, which hides a redirect from scripts
  for (const first of [`${plain}/hop`, '/requests/new']) {
    let path // of the request, whose page a redirect replaces
    await page.route('**/requests/*', (route) => {
      if (!path && route.request().isNavigationRequest() && !route.request().url().endsWith('/new')) {
        path = new URL(route.request().url()).pathname
        scene.secure.redirects.set(path, first)
      }
      return route.continue()
    })
    await guest.go('/requests/new')
    await page.locator('#text').fill('mine')
    await page.locator('details.more').evaluate((more) => { more.open = true })
    await page.locator('#encrypt').setChecked(true)
    await guest.press(say('create_submit'))
    await page.waitForURL(/#a/)
    await page.unrouteAll()
    scene.secure.redirects.set(path, `${plain}/hop`)
    if (first === '/requests/new') await guest.go(path + new URL(page.url()).hash)
    await page.locator('#changed:visible, #moved:visible').waitFor()
    assert.equal(await page.locator('#link').isVisible(), false)
    scene.secure.redirects.delete(path)
  }
  await page.evaluate((end) => { sessionStorage.asked = `${Date.now() - 61_000}${end}` }, new URL(other.own).hash)
  await guest.go('about:blank')
  await guest.go(other.own)
  await noLink(page)
  await guest.go('about:blank')
  await guest.go(other.own)
  await page.locator('#link').waitFor()
})

test('a browser that refuses storage is told to keep and compare the address', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  const sender = await scene.guest(t)
  for (const { context } of [guest, sender]) await context.addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError') } })
  })
  await guest.go('/requests/new')
  await page.locator('#text').fill('without storage')
  await page.locator('details.more').evaluate((more) => { more.open = true })
  await page.locator('#encrypt').setChecked(true)
  await guest.press(say('create_submit'))
  await page.getByText(say('ask_unkept')).waitFor()
  assert.equal(await page.locator('#told').evaluate((told) => told === document.activeElement), true)
  const own = await page.locator('#told a').textContent()
  await page.locator('#told a').click()
  await page.locator('#mine').waitFor()
  assert.equal(page.url(), own)
  const link = await page.locator('#link').inputValue()
  assert.match(link, /#a/)
  await answer(sender, link, { text: 'sent without storage' })
  await sent(sender)
  await guest.go('about:blank')
  await guest.go(own)
  await guest.press(say('step_open'))
  await opened(guest)
  await askFor(guest, { encrypt: false })
  assert.match(await makePush(guest, { payload: 'x', encrypt: true }), /#a/)
  await guest.page.getByText(say('frame_theme_dark'), { exact: true }).click()
})

test('links that would lose the end of an address are hidden until they keep it', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { page } = guest
  const own = await askFor(guest, { encrypt: true })
  const plain = await askFor(guest, { encrypt: false })
  const swapped = plain.own + new URL(own.own).hash
  guest.foresee(/ERR_FAILED/, /stored is not defined/, /dynamically imported module/)
  await guest.go('about:blank')
  await guest.go(swapped)
  await page.getByText(say('request_changed')).waitFor()
  for (const end of ['#main', '']) {
    await page.evaluate((to) => { location.hash = to }, end)
    await page.waitForFunction((to) => location.href === to, swapped)
    assert.equal(await page.locator('#link').isVisible(), false)
  }
  await page.route(/uqr.*js/, (route) => route.abort()) // which draws the link with its end
  await guest.go('about:blank')
  await guest.go(own.own)
  await page.locator('#link').waitFor()
  assert.equal(await page.locator('figure.qr').count(), 1)
  for (const more of await page.locator('details.more:visible').all()) await more.evaluate((it) => { it.open = true })
  assert.equal(await page.locator('figure.qr').isVisible(), false)
  await page.route(/app.*js|style.*css/, (route) => route.abort())
  for (const to of [own.own, own.link, plain.link, swapped]) {
    await guest.go('about:blank')
    await guest.go(to)
    await page.locator('h1').waitFor()
    for (const part of ['.skip', '.language', '#link']) assert.equal(await page.locator(part).isVisible(), false, `${part} of ${to}`)
  }
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

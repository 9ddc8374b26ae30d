import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { answer, arriveNew, askFor, opened, sent, unveil } from './lib/acts.js'
import { texts } from './lib/corpus.js'
import { setScene } from './lib/scene.js'
import { languages, say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_FILES_MAX_FILE_SIZE: '8MiB', PUSHBOX_FILES_MAX_FILE_UPLOADS: '3',
  PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000', PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '10000',
})

const file = (name, content = `in ${name}`) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
const openers = (guest) => guest.page.getByRole('button', { name: say('step_open'), exact: true })

// open opens an answer from the page of its request.
async function open(guest, own, which = 0) {
  await guest.go('about:blank')
  await guest.go(own)
  await openers(guest).nth(which).click()
  await opened(guest)
}

// lacksX25519 makes the browser of a guest one without X25519.
async function lacksX25519(guest) {
  await guest.context.addInitScript(() => {
    for (const name of isSecureContext ? ['generateKey', 'importKey'] : []) {
      const real = SubtleCrypto.prototype[name]
      SubtleCrypto.prototype[name] = function (...args) {
        if (args.some((arg) => arg?.name === 'X25519')) return Promise.reject(new DOMException('no X25519', 'NotSupportedError'))
        return real.apply(this, args)
      }
    }
  })
}

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`a person asks, another sends a text, and it is read${how}`, async (t) => {
    const [{ guest, account }, sender] = [await arriveNew(scene, t, { script }), await scene.guest(t, { script })]
    await guest.page.getByRole('link', { name: say('frame_requests'), exact: true }).click()
    await guest.page.locator('main').getByRole('link', { name: say('ask_title') }).click()
    const { own, link } = await askFor(guest, { text: 'The password\nof web-03', answers: 2 })
    await guest.page.getByText(say('request_none')).waitFor()

    await sender.go(link)
    const shown = await sender.text()
    for (const text of [account.email, 'The password', 'of web-03', say('answer_promise', { email: account.email })]) assert.ok(shown.includes(text), text)
    assert.equal(await sender.page.locator('header a:not([hreflang]), footer').count(), 0)
    await answer(sender, link, { text: 'hunter2\n  & more' })
    await sent(sender)
    assert.equal(new URL(sender.page.url()).pathname, '/q/sent')
    assert.equal(await sender.page.locator('main a').count(), 0)

    await open(guest, own)
    assert.equal(await guest.page.locator('#secret').textContent(), 'hunter2\n  & more')
    await guest.go('/requests')
    await guest.page.getByText(say('list_views_of', { views: 1, limit: 2 })).waitFor()
  })

  test(`files are sent without an account${how}`, async (t) => {
    const [{ guest }, sender] = [await arriveNew(scene, t, { script }), await scene.guest(t, { script })]
    const { own, link } = await askFor(guest, { kinds: 'file' })
    const contents = randomBytes(300_000)
    await sender.go(link)
    assert.equal(await sender.page.locator('#payload').count(), 0)
    await answer(sender, link, { files: [{ name: 'ä b.bin', mimeType: 'application/pdf', buffer: contents }, file('c.txt')] })
    await sent(sender)
    await open(guest, own)
    assert.deepEqual(await guest.page.locator('.files .name').allTextContents(), ['ä b.bin', 'c.txt'])
    const button = guest.page.getByRole('link', { name: say('reveal_download_name', { name: 'ä b.bin' }) })
    const { state, filePath } = await (await guest.download(() => button.click())).end()
    assert.equal(state, 'completed')
    assert.deepEqual(await readFile(filePath), contents)
  })

  test(`an empty answer is refused, and one to a request that has ended${how}`, async (t) => {
    const [{ guest }, sender] = [await arriveNew(scene, t, { script }), await scene.guest(t, { script })]
    sender.foresee(422, 404)
    const { own, link } = await askFor(guest, {})
    await answer(sender, link, { text: ' ' })
    await sender.page.getByRole('alert').getByText(say('answer_bad_empty')).waitFor()
    await sender.page.getByLabel(say('answer_text')).fill('typed with care')

    await guest.go(own)
    await guest.page.getByText(say('request_end'), { exact: true }).click()
    await guest.press(say('request_end_now'))
    await guest.page.getByText(say('notice_request_ended')).waitFor()
    await sender.press(say('answer_send'))
    await sender.page.getByText(say('problem_request_over_title')).waitFor()
    if (script) assert.equal(await sender.page.getByLabel(say('answer_text')).inputValue(), 'typed with care')
  })

  test(`hostile texts are shown literally in requests and answers${how}`, async (t) => {
    const [{ guest }, sender] = [await arriveNew(scene, t, { script }), await scene.guest(t, { script })]
    for (const text of texts.filter((text) => text.length < 2000)) {
      const what = JSON.stringify(text.slice(0, 80))
      const { own, link } = await askFor(guest, { text })
      const typed = text.replaceAll('\0', '\uFFFD')
      assert.equal(await guest.page.locator('.asked').textContent().then((shown) => shown.trim()), typed.trim(), what)
      await answer(sender, link, { text })
      await sent(sender)
      assert.equal(await sender.pwned(), undefined, what)
      await open(guest, own)
      assert.equal(await guest.pwned(), undefined, what)
      await guest.go('/requests')
      assert.equal(await guest.pwned(), undefined, what)
    }
  })
}

test('answers are encrypted for the keys of the request, of which the server gets nothing', async (t) => {
  const [{ guest }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { own, link } = await askFor(guest, { text: 'asked in clear', answers: 2, encrypt: true })
  const key = new URL(own).hash.slice(1)
  assert.match(key, /^a[\w-]{91}$/)
  assert.match(new URL(link).hash, /^#a[\w-]{27}$/)
  assert.equal(await guest.page.getByLabel(say('request_mine')).inputValue(), own)

  const contents = randomBytes(150_000)
  await answer(sender, link, { text: 'first-marker & <b>' })
  await sent(sender)
  await answer(sender, link, { text: 'text-marker', files: [{ name: 'name-marker.bin', mimeType: 'text/x-type-marker', buffer: contents }] })
  await sent(sender)

  await open(guest, own, 0)
  assert.equal(await unveil(guest), 'first-marker & <b>')
  await open(guest, own, 1)
  assert.equal(await unveil(guest), 'text-marker')
  const button = guest.page.getByRole('link', { name: say('reveal_download_name', { name: 'name-marker.bin' }) })
  const { filePath } = await (await guest.download(() => button.click())).end()
  assert.deepEqual(await readFile(filePath), contents)
  const pushKey = new URL(guest.page.url()).hash.slice(1)
  assert.match(pushKey, /^a[\w-]{48}$/)
  scene.unheard('first-marker', 'text-marker', 'name-marker', 'type-marker', contents.subarray(2000, 2032), key, key.slice(1, 40), key.slice(45, 88), pushKey, pushKey.slice(1, 40))
  assert.ok(Buffer.concat(scene.secure.heard).includes('asked in clear')) // where it reads what is sent
})

test('the page of an encrypted request keeps its key, and says when it is missing or wrong', async (t) => {
  const [{ guest }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { own, link } = await askFor(guest, { answers: 2, encrypt: true })
  const other = await askFor(guest, { encrypt: true })
  await answer(sender, link, { text: 'x' })
  await sent(sender)
  for (const [hash, message] of [['', 'request_keyless'], [own.slice(0, -1).replace(/.*#/, '#'), 'request_key_cut'], ['#main', 'request_key_cut']]) {
    await guest.go('about:blank')
    await guest.go(own.replace(/#.*/, hash))
    await guest.page.getByText(say(message)).waitFor()
    await guest.page.getByText(say('request_no_link')).waitFor()
    assert.equal(await openers(guest).count(), 0)
    assert.equal(await guest.page.getByLabel(say('request_link'), { exact: true }).isVisible(), false)
  }
  await guest.go('about:blank')
  await guest.go(own.replace(/#.*/, new URL(other.own).hash))
  await guest.page.getByText(say('request_unreadable')).waitFor()
  await guest.page.getByText(say('request_changed')).waitFor()
  assert.equal(await guest.page.getByLabel(say('request_link'), { exact: true }).isVisible(), false)
  const plain = await askFor(guest, { encrypt: false }) // in place of one with keys
  await guest.go('about:blank')
  await guest.go(plain.own + new URL(own).hash)
  await guest.page.getByText(say('request_changed')).waitFor()
  assert.equal(await guest.page.getByLabel(say('request_link'), { exact: true }).isVisible(), false)
  await guest.go('about:blank')
  await guest.go(own.replace(/#.*/, ''))
  await guest.page.getByText(say('request_keyless')).waitFor()
  // the rest of the address can be pasted
  await guest.page.evaluate((hash) => { location.hash = hash }, new URL(own).hash)
  await openers(guest).waitFor()
  await guest.page.evaluate(() => { window.before = true })
  await guest.page.getByRole('link', { name: say('receipt_again') }).click()
  await guest.page.waitForFunction(() => !window.before)
  await openers(guest).waitFor()
  await guest.page.getByText(say('request_end'), { exact: true }).click()
  await guest.press(say('request_end_now'))
  await guest.page.getByText(say('notice_request_ended')).waitFor()
  assert.equal(guest.page.url(), own)
  await openers(guest).click()
  await opened(guest)
  await guest.page.getByRole('link', { name: say('request_back') }).click()
  await openers(guest).waitFor() // the address has its key
  assert.equal(guest.page.url(), own)
})

test('nothing is sent to keys that are not those of the link', async (t) => {
  const [{ guest, account: { email } }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { link } = await askFor(guest, { answers: 2, encrypt: true })
  const others = [await askFor(guest, { encrypt: true }), await askFor(guest, { encrypt: false })]
  const { hash } = new URL(link)
  for (const wrong of [...others.map(({ link: other }) => other.replace(/#.*|$/, hash)), link.slice(0, -1), link.replace(/(#.{9}).*/, '$1'), `${link}.`, link.replace('#', '##'), link.replace('#a', '#%61'), link.replace(/#.*/, '#b')]) {
    await sender.go('about:blank')
    await sender.go(wrong)
    await sender.page.getByText(say('answer_changed', { email })).waitFor()
    assert.equal(await sender.page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
  }
  const moved = await scene.guest(t) // between whom and the server a redirect puts another end on the link
  for (const to of [link.replace(/#.*/, '#b'), link.replace(/#.*/, new URL(others[0].link).hash), ...['#b', '/#b'].map((end) => others[1].link + end), `${others[1].link.replace('/q/', '/q//')}#b`]) {
    scene.secure.redirects.set('/before', to)
    await moved.go('about:blank')
    await moved.go(`${new URL(link).origin}/before${hash}`)
    for (const again of [false, true]) {
      if (again) await moved.page.reload()
      await moved.page.getByText(say('answer_changed', { email })).waitFor()
      assert.equal(await moved.page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
    }
  }
  for (const good of [link, link.replace(/#.*/, '')]) {
    await sender.go('about:blank')
    await answer(sender, good, { text: 'x' })
    await sent(sender)
  }
  const closed = async ({ page }) => {
    await page.getByText(say('answer_changed', { email })).waitFor()
    assert.equal(await page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
  }
  for (const { link: wrong } of others) { // the link is pasted over one without its end; a place on the page does not take its place
    await sender.go('about:blank')
    await sender.go(wrong.replace(/#.*/, ''))
    await sender.page.getByRole('button', { name: say('answer_send') }).waitFor()
    for (const end of [hash, '#payload']) {
      await sender.page.evaluate((to) => { location.hash = to }, end)
      await closed(sender)
    }
    await sender.page.reload()
    await closed(sender)
  }
  for (const script of ['send', 'answer', 'requestkeys']) { // that does not come
    const late = await scene.guest(t)
    await late.page.route(`**/${script}*.js`, (route) => route.abort())
    late.foresee(/ERR_FAILED/)
    for (const to of others.map(({ link: wrong }) => wrong.replace(/#.*|$/, hash))) {
      await late.go('about:blank')
      await late.page.goto(to)
      await late.page.locator('#closed').waitFor()
      assert.equal(await late.page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
    }
  }
  const other = await scene.guest(t) // whose pages leave out what they would say, and have a place of the name of the end
  await other.page.addInitScript((end) => {
    new MutationObserver(() => {
      const form = document.querySelector('[data-changed]')
      form?.removeAttribute('data-changed')
      form?.after(Object.assign(document.createElement('p'), { id: end }))
    }).observe(document, { childList: true, subtree: true })
  }, hash.slice(1))
  for (const wrong of others) {
    await other.go('about:blank')
    await other.go(wrong.link.replace(/#.*|$/, hash))
    await other.page.locator('form[data-sends]').waitFor({ state: 'hidden' })
    assert.equal(await other.page.locator('[data-changed]').count(), 0)
  }
})

test('what was typed stays in sight when the link turns out to be wrong, and is sent once it is right', async (t) => {
  const [{ guest, account: { email } }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { own, link } = await askFor(guest, { encrypt: true })
  const { hash } = new URL(link)
  await sender.go(link.replace(/#.*/, ''))
  await sender.page.getByText(say('answer_endless', { email })).waitFor()
  await sender.page.getByLabel(say('answer_text')).fill('typed with care')
  await sender.page.evaluate((to) => { location.hash = to }, `${hash}x`)
  await sender.page.getByText(say('answer_changed', { email })).waitFor()
  assert.equal(await sender.page.getByLabel(say('answer_text')).inputValue(), 'typed with care')
  assert.equal(await sender.page.getByLabel(say('answer_text')).isVisible(), true)
  assert.equal(await sender.page.locator('#closed').evaluate((closed) => closed === document.activeElement), true)
  for (const part of [sender.page.getByRole('button', { name: say('answer_send') }), sender.page.locator('#promise')]) assert.equal(await part.isVisible(), false)
  await sender.page.getByLabel(say('answer_text')).press('Control+Enter')
  await sender.page.evaluate((to) => { location.hash = to }, hash)
  await sender.page.locator('#closed').waitFor({ state: 'hidden' })
  await sender.press(say('answer_send'))
  await sent(sender)
  await open(guest, own)
  assert.equal(await unveil(guest), 'typed with care')
})

test('an upload ends when the link turns out to be wrong', async (t) => {
  const [{ guest, account: { email } }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { link } = await askFor(guest, { encrypt: true })
  let release
  const held = new Promise((resolve) => { release = resolve })
  t.after(release)
  await sender.page.route(link.replace(/#.*/, ''), async (route) => {
    if (route.request().method() === 'POST') await held
    await route.continue().catch(() => {})
  })
  await sender.go(link)
  await sender.page.locator('#files').setInputFiles([file('a.txt')])
  await sender.press(say('answer_send'))
  await sender.page.locator('#sending').waitFor()
  await sender.page.evaluate(() => { location.hash = 'b' })
  await sender.page.getByText(say('answer_changed', { email })).waitFor()
  await sender.page.getByText(say('create_stopped')).waitFor()
  assert.equal(await sender.page.locator('#sending').isVisible(), false)
})

test('the key of a request survives a sign-in and another language', async (t) => {
  const [{ guest, account }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { own, link } = await askFor(guest, { answers: 2, encrypt: true })
  await answer(sender, link, { text: 'still there' })
  await sent(sender)
  await guest.context.clearCookies()
  await guest.go('about:blank')
  await guest.go(own)
  await guest.page.getByText(say('sign_in_wanted')).waitFor()
  guest.foresee(403)
  for (const password of ['a wrong one', account.password]) {
    await guest.page.getByLabel(say('sign_in_email')).fill(account.email)
    await guest.page.getByLabel(say('sign_in_password'), { exact: true }).fill(password)
    await guest.press(say('sign_in_go'), guest.page.locator('main'))
    if (password !== account.password) await guest.page.getByRole('alert').waitFor()
  }
  await guest.wholePage({ level: 1, name: say('request_title') })
  await guest.page.getByText(say('request_moved')).waitFor() // the sign-in led here
  assert.equal(guest.page.url(), own.replace('#', '#moved:'))
  await openers(guest).waitFor()
  await guest.go('about:blank')
  await guest.go(own)
  await guest.page.locator('#mine').waitFor()
  await guest.page.locator('.language summary').click()
  await guest.page.getByRole('link', { name: 'Deutsch' }).click()
  await guest.page.getByRole('button', { name: say('step_open', {}, 'de'), exact: true }).waitFor()
  assert.equal(new URL(guest.page.url()).hash, new URL(own).hash)
})

test('browsers without X25519 use P-256', async (t) => {
  const [{ guest: ann }, { guest: bob }] = [await arriveNew(scene, t), await arriveNew(scene, t)]
  const senders = [await scene.guest(t), await scene.guest(t)]
  await lacksX25519(bob)
  await lacksX25519(senders[1])
  const wrapped = []
  for (const asker of [ann, bob]) {
    const { own, link } = await askFor(asker, { answers: 2, encrypt: true })
    assert.equal(new URL(own).hash.length, asker === ann ? 93 : 50)
    for (const sender of senders) {
      await answer(sender, link, { text: 'over P-256 or not' })
      await sent(sender)
    }
    await asker.go('about:blank')
    await asker.go(own)
    wrapped.push(...await asker.page.locator('[data-wrapped]').evaluateAll((all) => all.map((one) => one.dataset.wrapped.length)))
    for (const which of [0, 1]) {
      await open(asker, own, which)
      assert.equal(await unveil(asker), 'over P-256 or not')
    }
  }
  assert.deepEqual(wrapped, [108, 152, 152, 152])
})

test('without scripts or HTTPS an encrypted request says what is missing', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { link, own } = await askFor(guest, { encrypt: true })
  const email = (await guest.page.locator('.menu p').first().textContent()).trim().split(/\s+/).at(-1)
  const plain = await scene.guest(t, { at: scene.plain.url })
  await plain.go(new URL(link).pathname)
  await plain.page.getByText(say('answer_https', { email })).waitFor()
  const bare = await scene.guest(t, { script: false })
  await bare.go(link)
  await bare.page.getByText(say('answer_scripts', { email })).waitFor()
  for (const sender of [plain, bare]) assert.equal(await sender.page.getByRole('button', { name: say('answer_send') }).isVisible(), false)
  const { guest: old } = await arriveNew(scene, t, { script: false })
  await old.go('/requests/new')
  assert.equal(await old.page.locator('#encrypt').isVisible(), false)
  const { guest: insecure } = await arriveNew(scene, t, { at: scene.plain.url })
  await insecure.go('/requests/new')
  assert.equal(await insecure.page.locator('#encrypt').isDisabled(), true)
  assert.ok(own.includes('#'))
})

test('the form of a request is short, says what is folded, and waits for what is needed', async (t) => {
  const { guest } = await arriveNew(scene, t)
  await guest.page.setViewportSize({ width: 1366, height: 650 })
  for (const tag of languages) {
    await guest.go(`/requests/new?lang=${tag}`)
    assert.ok((await guest.page.locator('.send button').evaluate((button) => button.getBoundingClientRect().bottom)) <= 650, tag)
  }
  await guest.go('/requests/new?lang=en')
  await guest.page.waitForFunction(() => document.activeElement.id === 'text')
  const told = guest.page.getByText(say('ask_set_encrypt'))
  assert.equal(await told.isVisible(), false)
  await guest.page.getByText(say('create_options')).click()
  await guest.page.locator('#encrypt').check()
  assert.equal(await told.isVisible(), true)
})

test('the message to pass on has the time in the zone of its sender', async (t) => {
  const { guest } = await arriveNew(scene, t, { zone: 'America/New_York' })
  await askFor(guest, {})
  const words = await guest.page.locator('#words').inputValue()
  assert.match(words, /day, .+ [AP]M E[SD]T/)
  assert.equal(await guest.page.locator('[href^="mailto:"]').getAttribute('href'), `mailto:?body=${encodeURIComponent(words)}`)
})

test('only where there is a mouse can files be dropped', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const { link } = await askFor(guest, {})
  for (const touch of [true, false]) {
    const sender = await scene.guest(t, { touch, width: touch ? 375 : 1280 })
    await sender.go(link)
    await sender.page.getByText(say('create_files'), { exact: true }).waitFor()
    assert.equal(await sender.page.getByText(say('create_files_drop')).isVisible(), !touch)
  }
})

test('a form that comes back keeps the files and the text, and is encrypted again', async (t) => {
  const [{ guest }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { own, link } = await askFor(guest, { encrypt: true })
  sender.foresee(422)
  await sender.go(link)
  await sender.page.locator('#files').setInputFiles([file('a.txt'), file('b.txt'), file('c.txt'), file('d.txt')])
  await sender.page.getByLabel(say('answer_text')).fill('kept')
  await sender.press(say('answer_send'))
  await sender.page.locator('#failed').getByText(say('create_bad_files', { max: 3 })).waitFor()
  await sender.page.getByRole('button', { name: say('create_file_remove', { name: 'b.txt' }) }).click()
  await sender.press(say('answer_send'))
  await sent(sender)
  await open(guest, own)
  assert.equal(await unveil(guest), 'kept')
  assert.deepEqual(await guest.page.locator('.files .name').allTextContents(), ['a.txt', 'c.txt', 'd.txt'])
})

test('another request after going back has other keys, or none', async (t) => {
  const { guest } = await arriveNew(scene, t)
  const sender = await scene.guest(t)
  const { own } = await askFor(guest, { encrypt: true })
  for (const encrypt of [true, false]) {
    await guest.page.goBack({ waitUntil: 'commit' })
    await guest.wholePage({ level: 1, name: say('ask_title') })
    await guest.page.getByLabel(say('ask_text')).fill('again')
    const options = guest.page.locator('details.more')
    if (!(await options.evaluate((more) => more.open))) await options.locator('summary').click()
    await guest.page.locator('#encrypt').setChecked(encrypt)
    await guest.press(say('create_submit'))
    await guest.wholePage({ level: 1, name: say('request_title') })
    if (encrypt) assert.notEqual(new URL(guest.page.url()).hash, new URL(own).hash)
    await sender.go(await guest.page.getByLabel(say('request_link'), { exact: true }).inputValue())
    assert.equal(await sender.page.locator('form[data-keys]').count(), encrypt ? 1 : 0)
  }
})

test('back from the confirmation the form is empty, so that nothing is sent twice', async (t) => {
  const [{ guest }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  const { link } = await askFor(guest, { answers: 2 })
  await answer(sender, link, { text: 'once only' })
  await sent(sender)
  await sender.page.goBack()
  await sender.page.waitForFunction(() => document.querySelector('#payload')?.value === '')
})

test('a click too many makes one request and one answer', async (t) => {
  const [{ guest }, sender] = [await arriveNew(scene, t), await scene.guest(t)]
  await guest.go('/requests/new')
  await guest.page.getByLabel(say('ask_text')).fill('once')
  await guest.page.getByText(say('create_options')).click()
  await guest.page.locator('#encrypt').check()
  await guest.page.getByRole('button', { name: say('create_submit') }).dblclick()
  await guest.wholePage({ level: 1, name: say('request_title') })
  const link = await guest.page.getByLabel(say('request_link'), { exact: true }).inputValue()
  await sender.go(link)
  await sender.page.getByLabel(say('answer_text')).fill('once')
  await sender.page.getByRole('button', { name: say('answer_send') }).dblclick()
  await sent(sender)
  await guest.go('/requests')
  assert.equal(await guest.page.locator('tbody tr').count(), 1)
  await guest.page.getByText(say('list_views_of', { views: 1, limit: 1 })).waitFor()
})

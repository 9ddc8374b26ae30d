import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, fillPush, makePush, sendPush, skipChecks, tokenOf } from './lib/acts.js'
import { hostile, texts } from './lib/corpus.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000' })

// A guest who leaves fails the test if a text ran, sent a request elsewhere, or was
// stopped by the policy.

// arrive returns a signed-in guest.
async function arrive(t, options) {
  const account = await scene.account()
  const guest = await scene.guest(t, options)
  await arriveSignedIn(guest, account)
  return { guest, account }
}

// safe fails if the page has elements that its template does not have, such as markup in
// a text would make.
async function safe(guest, what) {
  assert.equal(await guest.pwned(), undefined, what)
  const strange = await guest.page
    .locator(
      'iframe, object, embed, base, template:not([data-late]), script:not([src^="/assets/"]), meta[http-equiv], [onload], [onerror], [onfocus], [ontoggle], a[href^="javascript:"]',
    )
    .count()
  assert.equal(strange, 0, what)
}

for (const script of [true, false]) {
  test(`a hostile text is shown literally${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    for (const payload of texts) {
      const what = JSON.stringify(payload.slice(0, 80))
      await guest.go(scene.link(await scene.pushbox.create({ payload })))
      await guest.press(say('step_open'))
      await guest.wholePage({ name: say('reveal_title') })
      const shown = script ? payload : payload.replaceAll('\0', '\uFFFD')
      assert.equal(await guest.page.locator('#secret').textContent(), shown, what)
      await safe(guest, what)
    }
  })

  test(`hostile names and notes are shown literally in lists and logs${script ? '' : ', without scripts'}`, async (t) => {
    const { guest, account } = await arrive(t, { script })
    const pushes = []
    for (const text of hostile)
      pushes.push({
        text,
        push: await scene.pushbox.create({ payload: 'x', name: text, note: `${text}\n${text}` }, account),
      })
    await guest.go('/p')
    await safe(guest, 'the list')
    const names = (await scene.pushbox.active(account)).map(({ name }) => name)
    assert.deepEqual(await guest.page.locator('tbody th a').allTextContents(), names)
    assert.deepEqual(names, hostile.toReversed())
    for (const { text, push } of pushes) {
      await guest.go(`/p/${push.url_token}/audit`)
      assert.equal(await guest.page.getByRole('heading', { level: 1 }).textContent(), text)
      assert.equal(await guest.page.locator('#note').inputValue(), `${text}\n${text}`)
      await safe(guest, text)
    }
  })

  test(`a wrong form comes back with hostile texts as they were typed${script ? '' : ', without scripts'}`, async (t) => {
    const { guest } = await arrive(t, { script })
    guest.foresee(422)
    for (const text of hostile) {
      await guest.go('/')
      await guest.page.locator('#create').evaluate((form) => {
        form.noValidate = true
      })
      await fillPush(guest, { payload: text, passphrase: text, name: text, note: text, views: 1000 })
      const typed = await Promise.all(['payload', 'name', 'note'].map((id) => guest.page.locator(`#${id}`).inputValue()))
      await sendPush(guest)
      await guest.page.getByRole('alert').waitFor()
      await guest.page.locator('#said').waitFor({ state: 'attached' })
      const back = await Promise.all(['payload', 'name', 'note'].map((id) => guest.page.locator(`#${id}`).inputValue()))
      assert.deepEqual(back, typed)
      await safe(guest, text)
    }
  })
}

test('a hostile text of a QR code is shown literally', async (t) => {
  const guest = await scene.guest(t)
  for (const payload of hostile) {
    await guest.go(scene.link(await scene.pushbox.create({ kind: 'qr', payload })))
    await guest.press(say('step_open'))
    await guest.wholePage({ name: say('reveal_title') })
    assert.equal(await guest.page.locator('#secret').textContent(), payload)
    await safe(guest, payload)
  }
})

test('hostile texts are typed, created and opened unchanged', async (t) => {
  const { guest, account } = await arrive(t)
  for (const text of hostile.slice(0, 8)) {
    const link = await makePush(guest, { payload: text, passphrase: text, name: text, note: text })
    await safe(guest, text)
    const response = await fetch(
      `${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}?${new URLSearchParams({ passphrase: text })}`,
    )
    assert.equal((await response.json()).payload, text)
    await guest.go(link)
    await guest.page.locator('#passphrase').fill(text)
    await guest.press(say('step_open'))
    await guest.wholePage({ name: say('reveal_title') })
    assert.equal(await guest.page.locator('#secret').textContent(), text)
  }
  assert.deepEqual(
    (await scene.pushbox.active(account)).map(({ name }) => name),
    hostile.slice(0, 8).toReversed(),
  )
})

test('hostile file names are shown literally, before and after sending', async (t) => {
  const { guest } = await arrive(t)
  const names = hostile.map((text) => `${text.replaceAll('/', '∕').slice(0, 60)}.html`)
  const harm = Buffer.from('<script>window.pwned = 1</script>')
  for (const some of [names.slice(0, 9), names.slice(9)]) {
    await guest.go('/')
    await fillPush(guest, { kind: 'file', files: some.map((name) => ({ name, mimeType: 'text/html', buffer: harm })) })
    assert.deepEqual(await guest.page.locator('#chosen .name').allTextContents(), some)
    await safe(guest, 'chosen')
    await sendPush(guest)
    const link = await guest.page.locator('#link').inputValue()
    await guest.go(link)
    await guest.press(say('step_open'))
    await guest.wholePage({ name: say('reveal_files') })
    const { files } = await (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).json()
    assert.deepEqual(
      await guest.page.locator('.files .name').allTextContents(),
      files.map(({ filename }) => filename),
    )
    const links = await guest.page
      .locator('.files a')
      .evaluateAll((all) => all.map((a) => [a.protocol, a.pathname.startsWith('/d/')]))
    for (const [protocol, inside] of links) assert.deepEqual([protocol, inside], ['https:', true])
    await safe(guest, 'opened')
  }
})

test('addresses that are not web addresses are refused, and hostile ones lead where they say', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(422)
  for (const payload of [
    'javascript:window.pwned=1',
    'JaVaScRiPt:window.pwned=1',
    'data:text/html,<script>window.pwned=1</script>',
    ' vbscript:x',
    '//example.com/',
    'https://user:pass@example.com/',
    'https:example.com',
    'https:///path',
    'file:///etc/passwd',
    'blob:https://example.com/x',
  ]) {
    await guest.go('/')
    await skipChecks(guest)
    await fillPush(guest, { kind: 'url', payload })
    await sendPush(guest)
    await guest.page.getByRole('alert').getByText(say('create_bad_url')).waitFor()
    await safe(guest, payload)
  }
  for (const payload of [
    'https://example.com/"><script>window.pwned=1</script>',
    "https://example.com/'onmouseover='window.pwned=1",
    'https://example.com/?a=<b>&amp;c#javascript:x',
    'https://example.com\\@elsewhere.test/',
    'https://bank.example.evil.test/bank.example',
  ]) {
    const response = await fetch(`${scene.pushbox.url}/api/v2/pushes`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ push: { kind: 'url', payload } }),
    })
    if (response.status === 422) continue
    await guest.go(scene.link(await response.json()))
    await guest.press(say('step_open'))
    await guest.wholePage({ name: say('reveal_title') })
    assert.equal(await guest.page.locator('#link').textContent(), payload)
    const link = guest.page.getByRole('link', { name: say('reveal_url_open') })
    if (await link.count()) {
      const host = await link.evaluate((a) => a.hostname)
      assert.equal(host, new URL(payload).hostname)
      assert.equal(await guest.page.locator('main strong bdi').textContent(), host)
    }
    await safe(guest, payload)
  }
})

test('headers and paths of requests are shown literally or not at all', async (t) => {
  const { guest, account } = await arrive(t)
  const push = await scene.pushbox.create({ payload: 'x', expire_after_views: 100 }, account)
  const plain = hostile.filter((text) => /^[\x20-\x7e]*$/.test(text))
  for (const text of plain) await fetch(push.json_url, { headers: { 'User-Agent': text, Referer: text } })
  await guest.go(`/p/${push.url_token}/audit`)
  const cells = await guest.page.locator('tbody bdi').allTextContents()
  for (const text of plain) assert.equal(cells.filter((cell) => cell === text.slice(0, 255)).length, 2, text)
  await safe(guest, 'the log')
  guest.foresee(400, 404) // 400: the path has an escape that it does not need
  for (const text of hostile) {
    await guest.go(`/p?${new URLSearchParams({ q: text, state: text, page: '1', lang: text })}`)
    assert.ok(text.startsWith(await guest.page.getByRole('searchbox').inputValue()), text)
    await safe(guest, text)
    await guest.go(`/nothing/${encodeURIComponent(text)}`)
    await safe(guest, text)
  }
})

test('hostile token labels and account addresses are shown literally', async (t) => {
  const { guest, account } = await arrive(t)
  guest.foresee(422, 403)
  const labels = hostile.filter((text) => text.length <= 60).slice(0, 25) // an account has no more tokens
  for (const text of labels) {
    await guest.go('/users/token')
    await guest.page.locator('#password').fill(account.password)
    await guest.page.locator('#label').fill(text)
    await guest.press(say('token_make'))
    await guest.wholePage({ level: 1 })
    await safe(guest, text)
  }
  await guest.go('/users/token')
  const shown = await guest.page.locator('tbody th').allTextContents()
  assert.ok(shown.length > 5)
  for (const label of shown) assert.ok(labels.includes(label) || label === say('token_no_label'), label)
  await guest.context.clearCookies()
  for (const text of hostile) {
    await guest.go('/users/sign_in')
    await guest.page.locator('#email').evaluate((input) => {
      input.type = 'text'
    })
    await guest.page.locator('#email').fill(text)
    await guest.page.locator('#password').fill('correct horse battery')
    await guest.page
      .locator('main')
      .getByRole('button', { name: say('sign_in_go'), exact: true })
      .click()
    await guest.page.getByRole('alert').waitFor()
    await safe(guest, text)
  }
})

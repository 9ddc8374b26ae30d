import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, chooseKind, copy, fillPush, madeLink, makePush, opened, sendPush, skipChecks, tokenOf } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'
import { languages, say } from './lib/words.js'

const scene = setScene({ PUSHBOX_FILES_MAX_FILE_SIZE: '64MiB' })

// shown returns the push behind a link, as the API gives it to a recipient.
async function shown(link, passphrase) {
  const headers = passphrase ? { 'X-Push-Passphrase': passphrase } : {}
  const response = await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`, { headers })
  return response.json()
}

// A push of each kind that needs no account.
const kinds = [
  { kind: 'text', payload: 'first line\n  second <line> & more\n\n' },
  { kind: 'url', payload: 'https://example.com/a?b=c#d' },
  { kind: 'qr', payload: 'WIFI:T:WPA;S:café;P:secret;;' },
]

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  for (const { kind, payload } of kinds) {
    test(`a ${kind} push is created${how}`, async (t) => {
      const guest = await scene.guest(t, { script })
      const link = await makePush(guest, { kind, payload, days: 3, views: 2 })
      assert.equal(new URL(link).origin, guest.at)
      assert.match(new URL(link).pathname, /^\/p\/[a-z2-7]{34}\/r$/)
      const push = await shown(link)
      assert.deepEqual(
        [
          push.kind,
          push.payload,
          push.expire_after_days,
          push.expire_after_views,
          push.retrieval_step,
          push.deletable_by_viewer,
        ],
        [kind, payload, 3, 2, true, kind !== 'url'],
      )
    })
  }

  test(`a push takes a passphrase, a time and options from the form${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    await guest.go('/')
    await fillPush(guest, { payload: 'x', passphrase: 'open sesame', step: false, deletable: false })
    await guest.page.getByLabel(say('create_time'), { exact: true }).selectOption(say('create_time_other'))
    await guest.page.getByLabel(say('create_time_number'), { exact: true }).fill('6')
    await guest.page.getByLabel(say('create_time_unit'), { exact: true }).selectOption(say('create_unit_hours'))
    await sendPush(guest)
    const link = await madeLink(guest)
    assert.match(new URL(link).pathname, /^\/p\/[a-z2-7]{34}$/)
    await guest.page.getByText(say('made_passphrase_apart')).waitFor()
    assert.equal((await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).status, 401)
    const push = await shown(link, 'open sesame')
    assert.deepEqual([push.payload, push.retrieval_step, push.deletable_by_viewer], ['x', false, false])
    assert.equal(Date.parse(push.expires_at) - Date.parse(push.created_at), 6 * 3_600_000)
  })

  test(`a wrong form comes back with its values and names each problem${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    guest.foresee(422)
    await guest.go('/')
    await skipChecks(guest)
    await fillPush(guest, { kind: 'url', payload: 'ftp://example.com/', days: 3, views: 1000, passphrase: 'open sesame' })
    await sendPush(guest)
    const problems = guest.page.getByRole('alert')
    await problems.getByText(say('create_bad', { count: 2 })).waitFor()
    assert.deepEqual(await problems.getByRole('link').allTextContents(), [
      say('create_bad_url'),
      say('create_bad_views', { min: 1, max: 100 }),
    ])
    assert.equal(await guest.page.locator('#url').inputValue(), 'ftp://example.com/')
    assert.equal(await guest.page.locator('#views').inputValue(), '1000')
    assert.equal(await guest.page.locator('#passphrase').inputValue(), script ? 'open sesame' : '')
    assert.equal((await guest.page.locator('#passphrase-hint').innerText()).includes(say('create_passphrase_again')), !script)
    assert.equal(await guest.page.locator('#url').getAttribute('aria-invalid'), 'true')
    await guest.page.locator('[role=alert]:focus').waitFor()
    await fillPush(guest, { payload: 'https://example.com/', views: 10 })
    await sendPush(guest)
    assert.equal((await shown(await madeLink(guest), script ? 'open sesame' : '')).payload, 'https://example.com/')
  })

  test(`an account sends files with a name and a note${how}`, async (t) => {
    const account = await scene.account()
    const guest = await scene.guest(t, { script })
    await arriveSignedIn(guest, account)
    const files = ['a.txt', 'b "c".txt'].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(`in ${name}`) }))
    const link = await makePush(guest, {
      kind: 'file',
      payload: 'two files',
      files,
      name: 'for Bob',
      note: 'asked for it\nyesterday',
    })
    const push = await shown(link)
    assert.deepEqual(
      [push.kind, push.payload, push.files.map((file) => file.filename)],
      ['file', 'two files', files.map(({ name }) => name)],
    )
    for (const [i, { url }] of push.files.entries())
      assert.equal(await (await fetch(url)).text(), files[i].buffer.toString())
    const [own] = await (
      await fetch(`${scene.pushbox.url}/api/v2/pushes/active`, { headers: { Authorization: `Bearer ${account.token}` } })
    ).json()
    assert.deepEqual([own.name, own.note], ['for Bob', 'asked for it\nyesterday'])
  })
}

for (const script of [true, false])
  test(`a login is sent in fields, and read from them${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const { page } = guest
    const login = { user: 'ann <b>', password: ' two  words ', seed: 'jbsw y3dp ehpk 3pxp', note: 'first\nsecond' }
    await guest.go('/')
    await chooseKind(guest, 'login')
    assert.equal(await page.locator('#payload').isVisible(), false)
    for (const [name, value] of Object.entries(login)) await page.getByLabel(say(`login_${name}`), { exact: true }).fill(value)
    await sendPush(guest)
    const link = await madeLink(guest)
    assert.equal(
      (await shown(link)).payload,
      'User name: ann <b>\nPassword:  two  words \nOne-time code seed: jbsw y3dp ehpk 3pxp\nNote: first\nsecond',
    )
    const now = Date.now()
    if (script) await page.clock.setFixedTime(now)
    await guest.go(link)
    await guest.press(say('step_open'))
    await opened(guest)
    if (script) await page.locator('#login-code').waitFor()
    for (const [name, value] of Object.entries(login)) assert.equal(await page.locator(`#login-${name}`).textContent(), value)
    assert.equal(await page.locator('#login-address').count(), 0)
    assert.equal(await page.locator('#login-code').isVisible(), script)
    if (!script) return
    assert.equal(await page.locator('#login-code').textContent(), codeOf(login.seed, 0, now))
    await guest.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await copy(guest, page.locator('[data-copy="#login-password"]'))
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), login.password)
  })

test('a text that was typed before goes along into a login, and back', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  const typed = async () => Promise.all(['#payload', '#login-password', '#login-note'].map((field) => page.locator(field).inputValue()))
  await guest.go('/')
  for (const [text, password, note] of [
    ['hunter2\n', 'hunter2', ''],
    ['two words\n\nand more', '', 'two words\n\nand more'],
  ]) {
    await page.locator('#payload').fill(text)
    await chooseKind(guest, 'login')
    assert.deepEqual(await typed(), ['', password, note])
    await chooseKind(guest, 'text')
    assert.deepEqual(await typed(), [text, '', ''])
  }
  await chooseKind(guest, 'login')
  await page.locator('#login-user').fill('ann')
  await chooseKind(guest, 'qr')
  const lines = 'User name: ann\nNote: two words\n\nand more'
  assert.deepEqual(await typed(), [lines, '', ''])
  await chooseKind(guest, 'login')
  assert.equal(await page.locator('#login-user').inputValue(), 'ann')
  await sendPush(guest)
  assert.equal((await shown(await madeLink(guest))).payload, lines)
})

test('sending files needs an account', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await fillPush(guest, { payload: 'kept' })
  await chooseKind(guest, 'file')
  await guest.page.getByText(say('create_files_need_account')).waitFor()
  await guest.page.getByText(say('create_files_need_typed')).waitFor()
  assert.equal(await guest.page.locator('.send').isVisible(), false)
  await chooseKind(guest, 'text')
  assert.equal(await guest.page.locator('#payload').inputValue(), 'kept')
})

for (const { width, height, lowest } of [
  { width: 1366, height: 650, lowest: 588 },
  { width: 375, height: 667, lowest: 667 },
])
  test(`the button and the passphrase are on the first screen of ${width} by ${height}`, async (t) => {
    const guest = await scene.guest(t)
    await guest.page.setViewportSize({ width, height })
    const boxOf = async (part) => guest.page.locator(part).evaluate((el) => el.getBoundingClientRect().toJSON())
    const whole = async (where) => {
      const [button, bar, box] = await Promise.all(['.send button', '.send', '.passphrase .box'].map(boxOf))
      assert.ok(button.bottom <= lowest, `${where}: the button ends at ${button.bottom}`)
      assert.ok(box.bottom <= bar.top || box.right <= bar.left, `${where}: the bar is over the passphrase`)
    }
    await guest.go('/')
    await whole('without an account')
    await arriveSignedIn(guest, await scene.account())
    for (const tag of languages) {
      await guest.go(`/?lang=${tag}`)
      await whole(`text in ${tag}`)
      await guest.page.locator('[for=kind-file]').click()
      assert.ok((await boxOf('.send button')).bottom <= height, `files in ${tag}`)
    }
  })

for (const script of [true, false])
  test(`a passphrase takes three clicks, whatever is sent${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    for (const { kind, payload } of [...kinds, { kind: 'login', payload: 'ann' }]) {
      await guest.go('/')
      await chooseKind(guest, kind)
      if (kind === 'login') await guest.page.locator('#login-user').fill(payload)
      else await fillPush(guest, { payload })
      await guest.page.getByLabel(say('create_passphrase'), { exact: true }).click()
      await guest.page.keyboard.type('open sesame')
      await sendPush(guest)
      assert.ok((await shown(await madeLink(guest), 'open sesame')).payload.includes(payload), kind)
    }
  })

test('fields side by side begin at the same height', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  await guest.go('/')
  await guest.page.getByText(say('create_options')).click()
  const [name, note] = await Promise.all(['name', 'note'].map((id) => guest.page.locator(`[for=${id}]`).boundingBox()))
  assert.equal(name.y, note.y)
})

test('the form says where the content is encrypted, and which step that brings', async (t) => {
  const told = async (guest) => [await guest.page.getByText(say('create_sealed')).isVisible(), await guest.page.getByText(say('create_sealed_encrypted')).isVisible()]
  const guest = await scene.guest(t)
  await guest.go('/')
  assert.deepEqual(await told(guest), [true, false])
  await fillPush(guest, { step: false, encrypt: true })
  assert.deepEqual(await told(guest), [false, true])
  assert.equal(await guest.page.locator('#step').isVisible(), false)
  assert.ok((await guest.page.locator('.set').innerText()).includes(say('create_set_step')))
  await chooseKind(guest, 'qr')
  assert.deepEqual(await told(guest), [true, false])
  assert.equal(await guest.page.locator('#step').isVisible(), true)
})

test('the form says for how long the secret is kept, with the limits that are chosen', async (t) => {
  const guest = await scene.guest(t)
  const line = guest.page.locator('#gone')
  const want = async (time, views, tag) => assert.equal(await line.innerText(), say('create_gone_after', { time, count: views }, tag))
  await guest.go('/')
  await want(say('create_days_count', { count: 7 }), 5)
  await fillPush(guest, { views: 1 })
  await want(say('create_days_count', { count: 7 }), 1)
  await guest.page.locator('#time').selectOption(say('create_hours', { count: 1 }))
  await want(say('create_hours', { count: 1 }), 1)
  await fillPush(guest, { days: 12 })
  await want(say('create_days_count', { count: 12 }), 1)
  await guest.page.locator('#views').fill('')
  assert.equal(await line.innerText(), say('create_gone'))
  await guest.go('/?lang=pl')
  for (const views of [1, 2, 5, 22]) {
    await guest.page.locator('#views').fill(`${views}`)
    await want(say('create_days_count', { count: 7 }, 'pl'), views, 'pl')
  }
  const plain = await scene.guest(t, { script: false })
  await plain.go('/')
  assert.equal(await plain.page.locator('#gone').isVisible(), false)
  assert.ok(await plain.page.locator('#create + .hint noscript').isVisible())
  assert.equal(await plain.page.locator('#create + .hint noscript').innerText(), say('create_gone'))
})

test('the folded options say what is set', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const told = async () => (await guest.page.locator('.set').innerText()).trim()
  const [step, deletable] = ['step', 'deletable'].map((what) => say(`create_set_${what}`))
  assert.equal(await told(), [step, deletable].join(' '))
  await fillPush(guest, { step: false })
  assert.equal(await told(), deletable)
  await guest.page.locator('#typed').check()
  await guest.page.locator('#networks').fill('10.0.0.0/8')
  await guest.page.locator('#close').selectOption({ index: 1 })
  assert.equal(await told(), [deletable, ...['typed', 'readers', 'times'].map((what) => say(`create_set_${what}`))].join(' '))
  await guest.page.locator('#typed').uncheck()
  await guest.page.locator('#networks').fill('')
  await guest.page.locator('#close').selectOption('')
  await chooseKind(guest, 'url')
  assert.equal(await told(), '')
})

test('a text survives a lost connection, and is sent by the next press', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(/ERR_INTERNET_DISCONNECTED/)
  await guest.go('/')
  await fillPush(guest, { payload: 'typed once,\nkept here' })
  await guest.context.setOffline(true)
  await sendPush(guest)
  await guest.page.getByRole('alert').getByText(say('create_connection_lost')).waitFor()
  assert.equal(await guest.page.locator('#payload').inputValue(), 'typed once,\nkept here')
  await guest.context.setOffline(false)
  await sendPush(guest)
  const link = await madeLink(guest)
  assert.equal((await shown(link)).payload, 'typed once,\nkept here')
  await guest.page.goBack()
  await guest.page.waitForFunction(() => document.querySelector('#payload')?.value === '')
  await guest.page.goForward()
  assert.equal(await madeLink(guest), link)
})

test('a text is typed at once, and sent with Ctrl and Enter', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.page.waitForFunction(() => document.activeElement.id === 'payload')
  await guest.page.keyboard.type('typed')
  await guest.page.keyboard.press('Control+Enter')
  assert.equal((await shown(await madeLink(guest))).payload, 'typed')
})

test('an address goes along from the text to its own field', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await fillPush(guest, { payload: ' https://example.com/ ' })
  await chooseKind(guest, 'url')
  assert.equal(await guest.page.locator('#url').inputValue(), 'https://example.com/')
  await fillPush(guest, { payload: 'not an address' })
  await chooseKind(guest, 'text')
  assert.equal(await guest.page.locator('#payload').inputValue(), 'not an address')
  await sendPush(guest)
  await madeLink(guest)
})

test('the link and the message are copied', async (t) => {
  const guest = await scene.guest(t)
  await guest.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const link = await makePush(guest, { payload: 'x' })
  const clipboard = async () => guest.page.evaluate(() => navigator.clipboard.readText())
  await copy(guest, say('made_copy_link'))
  assert.equal(await clipboard(), link)
  await copy(guest, say('made_copy_message'))
  assert.ok((await clipboard()).includes(link))
})

test('over plain HTTP, without a clipboard API, the link is still copied', async (t) => {
  const guest = await scene.guest(t, { at: scene.plain.url })
  const link = await makePush(guest, { payload: 'x' })
  assert.equal(await guest.page.evaluate(() => navigator.clipboard === undefined && !isSecureContext), true)
  await copy(guest, say('made_copy_link'))
  await guest.go('/')
  await guest.page.locator('#payload').press('Control+V')
  assert.equal(await guest.page.locator('#payload').inputValue(), link)
})

test('a time is chosen from a list, or typed', async (t) => {
  const guest = await scene.guest(t)
  const lifetime = async (choose) => {
    await guest.go('/')
    await fillPush(guest, { payload: 'x' })
    await choose()
    await sendPush(guest)
    const push = await shown(await madeLink(guest))
    return (Date.parse(push.expires_at) - Date.parse(push.created_at)) / 3_600_000
  }
  const time = guest.page.getByLabel(say('create_time'), { exact: true })
  const number = guest.page.getByLabel(say('create_time_number'), { exact: true })
  assert.equal(await lifetime(async () => {}), 7 * 24)
  assert.equal(await lifetime(async () => time.selectOption(say('create_hours', { count: 1 }))), 1)
  assert.equal(await lifetime(async () => time.selectOption(say('create_days_count', { count: 90 }))), 90 * 24)
  const typed = await lifetime(async () => {
    assert.equal(await number.isVisible(), false)
    await time.selectOption(say('create_time_other'))
    await number.fill('12')
  })
  assert.equal(typed, 12 * 24)
})

test('the generator makes a new password of the chosen characters each time', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.press(say('create_generator'))
  const made = async () => guest.page.locator('#made').evaluate((output) => output.value)
  await guest.page.waitForFunction(() => document.querySelector('#made').value)
  const all = new Set()
  for (let i = 0; i < 20; i++) {
    await guest.press(say('create_generate_again'))
    const text = await made()
    assert.match(text, /^[A-Za-z2-9]{20}$/)
    assert.match(text, /[A-Z]/)
    assert.match(text, /[2-9]/)
    all.add(text)
  }
  assert.equal(all.size, 20)
  await guest.page.getByLabel(say('create_length'), { exact: true }).fill('40')
  await guest.page.getByLabel(say('create_symbols'), { exact: true }).check()
  assert.match(await made(), /^(?=.*[^A-Za-z0-9]).{40}$/)
  await guest.page.getByLabel(say('create_made_of'), { exact: true }).selectOption(say('create_made_of_words'))
  await guest.page.getByLabel(say('create_word_count'), { exact: true }).fill('4')
  await guest.page.waitForFunction(() => /^[a-z]+(-[a-z]+){3}$/.test(document.querySelector('#made').value))
  const words = await made()
  await guest.press(say('create_use_payload'))
  assert.equal(await guest.page.locator('#payload').inputValue(), words)
  assert.equal(await guest.page.locator('#generator').isVisible(), false)
  await guest.press(say('create_generate'))
  await guest.press(say('create_use_passphrase'))
  assert.match(await guest.page.locator('#passphrase').inputValue(), /^[a-z]+(-[a-z]+){3}$/)
  await chooseKind(guest, 'login')
  await guest.page.locator('[data-generate=login-password]').click()
  await guest.press(say('create_use_password'))
  assert.match(await guest.page.locator('#login-password').inputValue(), /^[a-z]+(-[a-z]+){3}$/)
  assert.equal(await guest.page.locator('#generator').isVisible(), false)
})

test('the strength of a passphrase is shown while it is typed', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const strength = guest.page.locator('#strength')
  assert.equal(await strength.isVisible(), false)
  for (const [text, level] of [
    ['abc', 0],
    ['aaaaaaaaaaaaaaaaaaaa', 0],
    ['correct horse battery staple orbit', 2],
    ['correct horse battery staple orbit lemon canyon ribbon', 4],
    ['k7#Qz9!mW2$xL5&v', 4],
  ]) {
    await guest.page.locator('#passphrase').fill(text)
    assert.equal(await strength.locator('output').textContent(), say(`create_strength_${level}`), text)
    assert.ok(await strength.locator('meter').evaluate((meter) => meter.value > 0), text)
  }
  const box = guest.page.locator('.passphrase')
  await box.getByRole('button', { name: say('create_show'), exact: true }).click()
  assert.equal(await guest.page.locator('#passphrase').getAttribute('type'), 'text')
  await box.getByRole('button', { name: say('create_hide'), exact: true }).click()
  assert.equal(await guest.page.locator('#passphrase').getAttribute('type'), 'password')
})

test('settings are remembered on request, and nothing else is', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const remember = guest.page.getByLabel(say('create_remember'))
  await fillPush(guest, { kind: 'qr', payload: 'very secret', passphrase: 'open sesame', days: 11, views: 3, step: false })
  assert.equal(await guest.page.evaluate(() => localStorage.getItem('push')), null)
  await remember.check()
  await sendPush(guest)
  await madeLink(guest)
  const kept = await guest.page.evaluate(() => JSON.stringify({ ...localStorage }) + JSON.stringify({ ...sessionStorage }))
  assert.doesNotMatch(kept, /secret|sesame/)
  await guest.go('/')
  assert.equal(await guest.page.locator('#kind-qr').isChecked(), true)
  const values = ['days', 'views', 'payload', 'passphrase'].map((id) => guest.page.locator(`#${id}`).inputValue())
  assert.deepEqual(await Promise.all(values), ['11', '3', '', ''])
  assert.equal(await guest.page.locator('#more').evaluate((more) => more.open), true)
  assert.equal(await guest.page.locator('#step').isChecked(), false)
  await remember.uncheck()
  await guest.go('/')
  assert.equal(await guest.page.locator('#kind-text').isChecked(), true)
  assert.equal(await guest.page.locator('#time').inputValue(), '12')
})

test('remembered encryption is on before anything can be sent', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  const button = page.getByRole('button', { name: say('create_submit'), exact: true })
  guest.foresee(/ERR_FAILED/)
  await guest.go('/')
  await fillPush(guest, { payload: 'x', encrypt: true })
  await page.getByLabel(say('create_remember')).check()
  await sendPush(guest)
  await madeLink(guest)
  let release
  const held = new Promise((resolve) => { release = resolve })
  t.after(release)
  for (const comes of [false, true]) {
    await page.route('**/assets/*create*.js', (route) => comes ? held.then(() => route.continue()).catch(() => {}) : route.abort())
    await page.goto(guest.at, { waitUntil: 'commit' })
    await page.getByText(say('answer_unloaded')).waitFor()
    for (const part of [button, page.locator('#encrypt')]) assert.equal(await part.isVisible(), false)
    await page.locator('#views').press('Enter')
    if (!comes) await page.unrouteAll()
  }
  release()
  await button.waitFor()
  assert.equal(await page.locator('#encrypt').isChecked(), true)
})

test('without the style sheet, too, encryption is offered and promised only where it is', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  guest.foresee(/ERR_FAILED/)
  await page.route('**/assets/*style*.css', (route) => route.abort())
  const promised = page.getByText(say('create_sealed_encrypted'))
  const shown = async () => [await page.locator('#encrypt').isVisible(), await promised.isVisible()]
  await guest.go('/?kind=qr')
  await page.getByRole('button', { name: say('create_submit'), exact: true }).waitFor()
  await page.locator('#more').evaluate((more) => { more.open = true })
  assert.deepEqual(await shown(), [false, false])
  await page.locator('#kind-text').check()
  assert.deepEqual(await shown(), [true, false])
  await page.locator('#encrypt').check()
  assert.deepEqual(await shown(), [true, true])
  await page.locator('#kind-url').check()
  assert.deepEqual(await shown(), [false, false])
})

test('each kind shows only its own fields', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  await guest.go('/')
  await guest.page.getByText(say('create_options')).click()
  const visible = async () => Promise.all(['.drop', '#deletable'].map((id) => guest.page.locator(id).isVisible()))
  for (const [kind, want] of [
    ['text', [false, true]],
    ['file', [true, true]],
    ['url', [false, false]],
    ['qr', [false, true]],
  ]) {
    await chooseKind(guest, kind)
    assert.deepEqual(await visible(), want, kind)
  }
})

test('the browser warns before typed text is lost, and not after it was sent', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.page.locator('#payload').pressSequentially('typed')
  await guest.go('/')
  assert.equal(guest.guard.asked, 1)
  await makePush(guest, { payload: 'typed' })
  await guest.go('/')
  assert.equal(guest.guard.asked, 1)
})

test('the kinds stand in one row in every language, also on a small phone', async (t) => {
  const guest = await scene.guest(t)
  for (const width of [320, 375]) {
    await guest.page.setViewportSize({ width, height: 667 })
    for (const tag of languages) {
      await guest.go(`/?lang=${tag}`)
      const { tops, over } = await guest.page.locator('.kinds').evaluate((kinds) => ({
        tops: [...new Set([...kinds.querySelectorAll('label')].map((label) => label.offsetTop))],
        over: [kinds.scrollWidth - kinds.clientWidth, ...[...kinds.querySelectorAll('label')].map((label) => label.scrollWidth - label.clientWidth)],
      }))
      assert.ok(tops.length === 1 && over.every((n) => n <= 0), `${tag} at ${width}: ${tops}, ${over}`)
    }
  }
})

test('the text is hidden while it is typed, until it is shown', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const { page } = guest
  const masked = () => page.locator('#payload').evaluate((box) => getComputedStyle(box).webkitTextSecurity)
  await page.locator('#payload').fill('behind dots')
  assert.equal(await masked(), 'none')
  const button = page.locator('[data-show="#payload"]')
  assert.equal((await button.textContent()).trim(), say('create_hide'))
  await button.click()
  assert.equal(await masked(), 'disc')
  assert.equal((await button.textContent()).trim(), say('create_show'))
  await page.locator('#payload').press('End')
  await page.keyboard.type(', typed')
  assert.equal(await page.locator('#payload').inputValue(), 'behind dots, typed')
  await button.click()
  assert.equal(await masked(), 'none')
})

test('beside one view, the form suggests that recipients type a number', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const { page } = guest
  const line = page.locator('#once')
  assert.equal(await line.isVisible(), false)
  await fillPush(guest, { payload: 'x', views: 1 })
  await line.getByRole('button', { name: say('create_typed'), exact: true }).click()
  assert.equal(await line.isVisible(), false)
  assert.equal(await page.locator('#typed').isChecked(), true)
  assert.equal(await page.evaluate(() => document.activeElement.id), 'typed')
  await page.locator('#typed').uncheck()
  await line.waitFor()
  await fillPush(guest, { views: 2 })
  assert.equal(await line.isVisible(), false)
  await fillPush(guest, { views: 1 })
  await page.locator('#typed').check()
  await sendPush(guest)
  await madeLink(guest)
  await page.locator('.set').getByText(say('create_set_typed')).waitFor()
})

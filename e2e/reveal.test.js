import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, copy, openPush, opened, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { languages, say } from './lib/words.js'

const scene = setScene(
  { PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE: '1000' },
  { '/': '<title>another site</title><link rel="icon" href="data:,">' },
)

const views = async (push) => (await scene.pushbox.audit(push)).views
const text = 'first line\n  second <b>line</b> & "more"\n\n'

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`the confirmation page says what is waiting and counts no view${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text, expire_after_views: 3, expire_after_days: 9 })
    await guest.go(scene.link(push))
    const shown = await guest.text()
    for (const line of [say('step_kind_text'), say('step_counts', { count: 3 }), say('step_never_opened'), say('list_left_days', { count: 9 })])
      assert.ok(shown.includes(line), line)
    assert.equal((await guest.page.content()).includes('second'), false)
    assert.equal(await guest.page.getByRole('button', { name: say('step_open') }).count(), 1)
    assert.equal(await views(push), 0)
  })

  test(`a text is opened by the button, exactly as it was sent${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text })
    await openPush(scene, guest, push)
    await opened(guest)
    assert.equal(await unveil(guest), text)
    assert.equal(await views(push), 1)
  })

  test(`a text without the step is opened by following its link${how}`, async (t) => {
    const guest = await scene.guest(t, { script, home: [scene.secure.url, scene.site.url] })
    const push = await scene.pushbox.create({ payload: text, retrieval_step: false })
    await guest.go(scene.site.url)
    await guest.page.evaluate((href) => {
      document.body.innerHTML = `<a href="${href}">a link</a>`
    }, scene.link(push))
    await guest.page.getByRole('link').click()
    await opened(guest)
    assert.equal(await unveil(guest), text)
    assert.equal(await views(push), 1)
  })

  test(`a passphrase is required, a wrong one is reported, the right one opens${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text, passphrase: 'open sesame' })
    guest.foresee(401, 403)
    await openPush(scene, guest, push, 'open barley')
    const alert = guest.page.getByRole('alert')
    await alert.getByText(say('step_wrong')).waitFor()
    await alert.getByText(say('step_tries_left', { count: 4 })).waitFor()
    assert.equal(await guest.page.locator('#passphrase').inputValue(), '')
    assert.equal(await views(push), 0)
    await guest.page.locator('#passphrase').fill('open sesame')
    await guest.press(say('step_open'))
    await opened(guest)
    assert.equal(await unveil(guest), text)
    assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation', 'failed_passphrase', 'view'])
  })

  test(`after too many wrong passphrases the page says when to try again${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text, passphrase: 'open sesame' })
    guest.foresee(401, 403, 429)
    for (const left of [4, 3, 2, 1, 0]) {
      await openPush(scene, guest, push, 'open barley')
      if (left) await guest.page.getByText(say('step_tries_left', { count: left })).waitFor()
    }
    await openPush(scene, guest, push, 'open sesame')
    await guest.page.getByText(say('step_locked')).waitFor()
    if (script) {
      await guest.page.getByText(/in \d+ seconds/).waitFor()
      assert.equal(await guest.page.getByRole('button', { name: say('step_open') }).isDisabled(), true)
    } else await guest.page.getByText(say('step_retry_after')).getByRole('time').waitFor()
    assert.equal(await views(push), 0)
  })

  test(`the last view is announced, and none follows it${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text, expire_after_views: 1 })
    await guest.go(scene.link(push))
    await guest.page.getByText(say('step_counts_last')).waitFor()
    await guest.press(say('step_open'))
    await guest.page.getByText(say('reveal_last'), { exact: true }).waitFor()
    assert.equal(await unveil(guest), text)
    const other = await scene.guest(t, { script })
    other.foresee(404)
    assert.equal((await other.go(scene.link(push))).status(), 404)

    await guest.go(scene.link(push)) // as a reload does
    await guest.page.getByText(say('step_again')).waitFor()
    await guest.press(say('step_open'))
    assert.equal(await unveil(guest), text)
    assert.equal(await views(push), 1)
  })

  test(`unknown, expired and deleted pushes look the same${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    guest.foresee(404)
    const [used, deleted] = [
      await scene.pushbox.create({ payload: 'x', expire_after_views: 1 }),
      await scene.pushbox.create({ payload: 'x' }),
    ]
    await fetch(used.json_url)
    await scene.pushbox.expire(deleted)
    const unknown = { html_url: used.html_url.replace(/[a-z2-7]{34}/, 'a'.repeat(34)) }
    const malformed = { html_url: used.html_url.replace(/[a-z2-7]{34}/, 'nothing') }
    const answers = []
    for (const push of [used, deleted, unknown, malformed]) {
      for (const tail of ['', '/r']) {
        const response = await guest.go(scene.link(push).replace(/\/r$/, '') + tail)
        const { date, ...headers } = await response.allHeaders()
        answers.push({ status: response.status(), headers, body: await response.text() })
      }
    }
    assert.equal(answers[0].status, 404)
    for (const answer of answers) assert.deepEqual(answer, answers[0])
    assert.equal(await guest.heading(), say('problem_not_found_title'))
  })

  test(`a recipient deletes a push after confirming${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text })
    await openPush(scene, guest, push)
    await opened(guest)
    const button = guest.page.getByRole('button', { name: say('reveal_delete_yes') })
    assert.equal(await button.isVisible(), false)
    await guest.page.getByText(say('reveal_delete'), { exact: true }).click()
    await button.click()
    await guest.wholePage({ name: say('reveal_deleted_title') })
    assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation', 'view', 'expire'])
    guest.foresee(404)
    assert.equal((await guest.go(scene.link(push))).status(), 404)
  })

  test(`a recipient who may not delete a push is not offered it${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: text, deletable_by_viewer: false })
    await openPush(scene, guest, push)
    await opened(guest)
    assert.equal(await guest.page.getByText(say('reveal_delete'), { exact: true }).count(), 0)
  })

  test(`a URL push shows where it leads, and does not go there by itself${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ kind: 'url', payload: 'https://bücher.example/a?b=c' })
    await openPush(scene, guest, push)
    await opened(guest)
    const shown = await guest.text()
    for (const part of ['bücher.example', 'xn--bcher-kva.example', 'https://bücher.example/a?b=c'])
      assert.ok(shown.includes(part), part)
    const link = guest.page.getByRole('link', { name: say('reveal_url_open'), exact: true })
    assert.equal(new URL(await link.getAttribute('href')).hostname, 'xn--bcher-kva.example')
    assert.match(await link.getAttribute('rel'), /noreferrer/)
    assert.equal(new URL(guest.page.url()).origin, guest.at)
  })

  test(`a later recipient sees how often the push was opened before${how}`, async (t) => {
    const push = await scene.pushbox.create({ payload: text })
    for (const before of [0, 1, 2]) {
      const guest = await scene.guest(t, { script })
      await guest.go(scene.link(push))
      await guest.page.getByText(before ? say('step_opened', { count: before }) : say('step_never_opened')).waitFor()
      await guest.press(say('step_open'))
      await opened(guest)
      const notice = guest.page.getByText(say('reveal_opened', { count: before || 1 }))
      assert.equal(await notice.count(), before ? 1 : 0)
      if (before) assert.equal(await guest.page.locator('.notice time').count(), before)
    }
  })
}

test('to programs too, unknown, expired and deleted pushes look the same, whatever they ask for', async () => {
  const [used, deleted, out] = await Promise.all(
    [1, 5, 5].map((expire_after_views) => scene.pushbox.create({ payload: 'x', passphrase: 'y', expire_after_views })),
  )
  await fetch(used.json_url, { headers: { 'X-Push-Passphrase': 'y' } })
  await scene.pushbox.expire(deleted)
  await scene.pushbox.expire(out)
  const tokens = [used.url_token, deleted.url_token, out.url_token.toUpperCase(), 'a'.repeat(34), 'nothing']
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const person = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Site': 'none' }
  for (const [method, tail, headers, body] of [
    ['GET', '', {}],
    ['GET', '', person],
    ['GET', '/r', person],
    ['HEAD', '', {}],
    ['HEAD', '/r', {}],
    ['POST', '', form, ''],
    ['POST', '', form, 'passphrase=y'],
    ['POST', '', form, 'passphrase=z'],
    ['POST', '/expire', form, ''],
  ]) {
    const answers = []
    for (const token of tokens) {
      const response = await fetch(`${scene.pushbox.url}/p/${token}${tail}`, { method, headers, body, redirect: 'manual' })
      const { date, ...rest } = Object.fromEntries(response.headers)
      answers.push({ status: response.status, headers: rest, body: await response.text() })
    }
    const asked = `${method} ${tail} ${body}`
    assert.deepEqual(
      answers.map(({ status }) => status),
      tokens.map(() => 404),
      asked,
    )
    for (const answer of answers) assert.deepEqual(answer, answers[0], asked)
  }
})

for (const [width, height] of [[1366, 650], [375, 667]])
  test(`the passphrase and the button are on the first screen of ${width} by ${height}, in every language`, async (t) => {
    const guest = await scene.guest(t)
    guest.foresee(403)
    await guest.page.setViewportSize({ width, height })
    for (const tag of languages) {
      const push = await scene.pushbox.create({ payload: 'x', passphrase: 'open sesame', expire_after_views: 1 })
      await guest.go(`${scene.link(push)}?lang=${tag}`)
      for (const wrong of [false, true]) {
        if (wrong) {
          await guest.page.keyboard.type('wrong')
          await guest.page.keyboard.press('Enter')
          await guest.page.getByRole('alert').waitFor()
          await guest.ready()
        }
        await guest.page.waitForFunction(() => document.activeElement.id === 'passphrase') // with a frame after the page has loaded
        const seen = await guest.page.evaluate(() => ({
          scrolled: scrollY, bottom: document.querySelector('main form .buttons button').getBoundingClientRect().bottom,
        }))
        assert.ok(seen.scrolled === 0 && seen.bottom <= height, `${tag}, ${wrong}: ${JSON.stringify(seen)}`)
      }
    }
  })

test('after a lock the form works again by itself', async (t) => {
  const guest = await scene.guest(t)
  await guest.page.clock.install()
  guest.foresee(401, 403)
  const push = await scene.pushbox.create({ payload: text, passphrase: 'open sesame' })
  for (let i = 0; i < 5; i++) await openPush(scene, guest, push, 'open barley')
  const field = guest.page.locator('#passphrase')
  await guest.page.locator('#passphrase:disabled').waitFor()
  await guest.page.clock.runFor(61_000)
  await guest.page.getByText(say('step_wait_over')).waitFor()
  assert.equal(await field.isDisabled(), false)
  assert.equal(await field.evaluate((el) => el === document.activeElement), true)
})

const blurred = async (guest) =>
  guest.page.locator('#secret').evaluate((el) => getComputedStyle(el).filter.includes('blur'))

test('after the button the text is shown, and covered when its reader is away', async (t) => {
  const guest = await scene.guest(t)
  await guest.page.clock.install()
  await openPush(scene, guest, await scene.pushbox.create({ payload: text }))
  await opened(guest)
  assert.equal(await blurred(guest), false)
  await guest.page.clock.runFor(4 * 60_000)
  assert.equal(await blurred(guest), false)
  await guest.page.clock.runFor(61_000)
  assert.equal(await blurred(guest), true)
  await guest.page.getByRole('button', { name: say('reveal_unveil') }).click()
  assert.equal(await blurred(guest), false)
})

test('a text is covered when the reader leaves the tab, unless it is kept shown', async (t) => {
  const guest = await scene.guest(t)
  const leave = async () =>
    guest.page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    })
  await openPush(scene, guest, await scene.pushbox.create({ payload: text }))
  await opened(guest)
  await leave()
  assert.equal(await blurred(guest), true)
  assert.equal(await unveil(guest), text)
  await guest.page.getByLabel(say('reveal_keep')).check()
  await leave()
  assert.equal(await blurred(guest), false)
})

test('a text without the step is covered until it is clicked', async (t) => {
  const guest = await scene.guest(t)
  await guest.go(scene.link(await scene.pushbox.create({ payload: text, retrieval_step: false })))
  await opened(guest)
  assert.equal(await blurred(guest), true)
  assert.equal(await unveil(guest), text)
  assert.equal(await blurred(guest), false)
})

test('a text is copied exactly, covered or not', async (t) => {
  const guest = await scene.guest(t)
  await guest.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const payload = ' \ttabs, naïve 日本 👩‍👧\r\nand\u0000NUL\u2028\n\n'
  await openPush(scene, guest, await scene.pushbox.create({ payload }))
  await opened(guest)
  await copy(guest, say('reveal_copy'))
  assert.equal(await guest.page.evaluate(() => navigator.clipboard.readText()), payload)
  assert.equal(await unveil(guest), payload)
})

test('over plain HTTP a text is still copied', async (t) => {
  const guest = await scene.guest(t, { at: scene.plain.url })
  await openPush(scene, guest, await scene.pushbox.create({ payload: 'three\nshort\nlines' }))
  await opened(guest)
  await copy(guest, say('reveal_copy'))
  await guest.go('/')
  await guest.page.locator('#payload').press('Control+V')
  assert.equal((await guest.page.locator('#payload').inputValue()).trimEnd(), 'three\nshort\nlines')
})

test('over plain HTTP a text without the step still gets the confirmation page', async (t) => {
  const guest = await scene.guest(t, { at: scene.plain.url })
  const push = await scene.pushbox.create({ payload: text, retrieval_step: false })
  await guest.go(scene.link(push, scene.plain))
  await guest.wholePage({ level: 1, name: say('step_title') })
  assert.equal(await views(push), 0)
  await guest.press(say('step_open'))
  await opened(guest)
  assert.equal(await unveil(guest), text)
})

test('on localhost, without TLS, a text without the step opens at once', async (t) => {
  const at = scene.pushbox.url.replace('127.0.0.1', 'localhost')
  const guest = await scene.guest(t, { at })
  const push = await scene.pushbox.create({ payload: text, retrieval_step: false })
  await guest.go(scene.link(push, { url: at }))
  await opened(guest)
  assert.equal(await views(push), 1)
})

test('a QR code is shown, and its text on request', async (t) => {
  const guest = await scene.guest(t)
  await openPush(scene, guest, await scene.pushbox.create({ kind: 'qr', payload: 'WIFI:T:WPA;S:café;P:secret;;' }))
  await opened(guest)
  assert.equal(await guest.page.locator('figure.qr svg path').count(), 1)
  assert.equal(await guest.page.locator('#secret').isVisible(), false)
  await guest.page.getByText(say('reveal_qr_text'), { exact: true }).click()
  assert.equal(await unveil(guest), 'WIFI:T:WPA;S:café;P:secret;;')
})

test('the page warns of a host name that mixes alphabets', async (t) => {
  const guest = await scene.guest(t)
  await openPush(scene, guest, await scene.pushbox.create({ kind: 'url', payload: 'https://pаypal.example/' })) // with a Cyrillic a
  await opened(guest)
  await guest.page.getByText(say('reveal_url_mixed')).waitFor()
  assert.ok((await guest.text()).includes('xn--'))
})

test('the printed page has the secret and no buttons', async (t) => {
  const guest = await scene.guest(t)
  await openPush(scene, guest, await scene.pushbox.create({ payload: 'on paper' }))
  await opened(guest)
  await guest.page.evaluate(() => {
    window.print = () => {
      window.printed = true
    }
  })
  await guest.press(say('reveal_print'))
  assert.equal(await guest.page.evaluate(() => window.printed), true)
  await guest.page.emulateMedia({ media: 'print' })
  assert.equal(await guest.page.locator('#secret').isVisible(), true)
  assert.equal(await guest.page.locator('#secret').evaluate((el) => getComputedStyle(el).filter), 'none')
  for (const button of await guest.page.getByRole('button').all()) assert.equal(await button.isVisible(), false)
  for (const frame of ['header nav', 'footer']) assert.equal(await guest.page.locator(frame).isVisible(), false, frame)
})

test('a sender opens a push without counting a view', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  await arriveSignedIn(guest, account)
  const push = await scene.pushbox.create({ payload: text, expire_after_views: 1 }, account)
  await openPush(scene, guest, push)
  await guest.page.getByText(say('reveal_own')).waitFor()
  assert.equal(await unveil(guest), text)
  assert.deepEqual((await scene.pushbox.audit(push, account)).kinds, ['creation', 'owner_view'])
})

test('addresses of older programs redirect', async (t) => {
  const guest = await scene.guest(t)
  const push = await scene.pushbox.create({ payload: text })
  for (const prefix of ['/f/', '/r/']) {
    await guest.go(`${prefix}${push.url_token}/r`)
    assert.equal(guest.page.url(), scene.link(push))
  }
  assert.equal(await views(push), 0)
})

test('for a minute after copying, the clipboard can be cleared', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  await guest.context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
  const [clear, cleared] = [page.getByRole('button', { name: say('reveal_clear') }), page.getByText(say('reveal_cleared')).and(page.locator('#clear *'))]
  await page.clock.install()
  await openPush(scene, guest, await scene.pushbox.create({ payload: 'copied once' }))
  await opened(guest)
  const copies = page.getByRole('button', { name: say('reveal_copy'), exact: true })
  assert.equal(await clear.isVisible(), false)
  await copies.click()
  await clear.waitFor()
  assert.equal(await clipboard(), 'copied once')
  await clear.click()
  await cleared.waitFor()
  assert.equal(await clipboard(), '')
  assert.equal(await clear.isVisible(), false)
  assert.equal(await page.evaluate(() => 'copy' in document.activeElement.dataset), true)
  await page.clock.runFor(3000) // until the button says again what it does
  await copies.click()
  await clear.waitFor()
  assert.equal(await cleared.isVisible(), false)
  await page.clock.runFor(61_000)
  assert.equal(await page.locator('#clear').isVisible(), false)
})

test('over plain HTTP nothing can clear the clipboard, and no page says so', async (t) => {
  const guest = await scene.guest(t, { at: scene.plain.url })
  await openPush(scene, guest, await scene.pushbox.create({ payload: 'copied once' }))
  await opened(guest)
  await copy(guest, say('reveal_copy'))
  assert.equal(await guest.page.locator('#clear').isVisible(), false)
})

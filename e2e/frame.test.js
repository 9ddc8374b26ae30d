import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, fillPush, madeLink, opened, sendPush } from './lib/acts.js'
import { fits } from './lib/look.js'
import { setScene } from './lib/scene.js'
import { languages, say } from './lib/words.js'

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_ENABLE_SIGNUPS: 'true', PUSHBOX_SIGNUP_EMAIL_REGEXP: String.raw`.+@example\.com` })

test('pages are in the language that the browser asks for', async (t) => {
  for (const tag of languages) {
    const guest = await scene.guest(t, { locale: tag })
    await guest.go('/')
    assert.equal(await guest.page.locator('html').getAttribute('lang'), tag)
    assert.equal(await guest.heading(), say('create_heading', {}, tag))
    await guest.leave()
  }
})

test('in every language the pages fit a small window', async (t) => {
  const push = await scene.pushbox.create({ payload: 'x', passphrase: 'open sesame' })
  for (const tag of languages) {
    const guest = await scene.guest(t, { locale: tag, width: 320 })
    for (const path of ['/', '/users/sign_in', `/p/${push.url_token}/r`]) {
      await guest.go(path)
      await fits(guest, `${path} in ${tag}`)
    }
    await guest.leave()
  }
})

test('in every language the pages of an administrator fit a small window', async (t) => {
  const guest = await scene.guest(t, { width: 320 })
  await arriveSignedIn(guest, await scene.administrator())
  for (const tag of languages)
    for (const path of ['/users/account', '/users/token', '/users/mfa', '/admin', '/admin/accounts/1', '/admin/activity']) {
      await guest.go(`${path}?lang=${tag}`)
      await fits(guest, `${path} in ${tag}`)
    }
})

test('on a phone the header is one row in every language', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  for (const signedIn of [false, true]) {
    if (signedIn) await arriveSignedIn(guest, account)
    for (const width of [320, 375]) {
      await guest.page.setViewportSize({ width, height: 667 })
      for (const tag of languages) {
        await guest.go(`/?lang=${tag}`)
        const tops = await guest.page.locator('header').evaluate((header) => {
          const parts = header.querySelectorAll('.brand, .menu > summary, nav > .button')
          return [...new Set([...parts].map((part) => part.getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 20)))]
        })
        assert.ok(tops.length === 1, `${tag} at ${width}: ${tops}`)
      }
    }
    await guest.go('/?lang=en')
  }
})

test('a language is chosen beside a form with errors, which stays as it is', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(422)
  await guest.go('/')
  await guest.page.locator('#create').evaluate((form) => { form.noValidate = true })
  await fillPush(guest, { payload: 'typed with care', views: 1000 })
  await sendPush(guest)
  await guest.page.getByRole('alert').waitFor()
  await guest.page.locator('.language summary').click()
  await guest.page.getByText(say('frame_language_apart')).waitFor()
  const [other] = await Promise.all([guest.context.waitForEvent('page'), guest.page.locator('.language a[hreflang=sv]').click()])
  await other.getByRole('heading', { level: 1, name: say('create_heading', {}, 'sv') }).waitFor()
  assert.equal(await guest.page.locator('#payload').inputValue(), 'typed with care')
  await fillPush(guest, { views: 10 })
  await sendPush(guest)
  await guest.wholePage({ level: 1, name: say('made_heading', {}, 'sv') })
})

for (const script of [true, false]) {
  test(`a chosen language stays${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const push = await scene.pushbox.create({ payload: 'x' })
    await guest.go(scene.link(push))
    await guest.page.locator('.language summary').click()
    const list = guest.page.locator('.language')
    assert.equal(await list.getByRole('link').count(), languages.length)
    await list.locator('a[hreflang=fr]').click()
    await guest.wholePage({ level: 1, name: say('step_title', {}, 'fr') })
    assert.equal(new URL(guest.page.url()).pathname, new URL(scene.link(push)).pathname)
    await guest.go('/')
    assert.equal(await guest.heading(), say('create_heading', {}, 'fr'))
  })
}

test('changing the language of an open secret uses no view', async (t) => {
  const guest = await scene.guest(t)
  const push = await scene.pushbox.create({ payload: 'x', retrieval_step: false })
  await guest.go(scene.link(push))
  await guest.wholePage({ level: 1, name: say('reveal_title') })
  await guest.page.locator('.language summary').click()
  await guest.page.locator('.language a[hreflang=sv]').click()
  await guest.wholePage({ level: 1, name: say('step_title', {}, 'sv') })
  assert.equal((await scene.pushbox.audit(push)).views, 1)
})

test('the theme follows the system until one is chosen, which stays', async (t) => {
  const guest = await scene.guest(t, { theme: 'dark' })
  const paper = async () =>
    guest.page.evaluate(() => {
      const [r, g, b] = getComputedStyle(document.body)
        .backgroundColor.match(/[\d.]+/g)
        .map(Number)
      return r + g + b > 382 ? 'light' : 'dark'
    })
  const choose = async (name) =>
    guest.page
      .getByRole('group', { name: say('frame_theme') })
      .getByText(name, { exact: true })
      .click()
  await guest.go('/')
  assert.equal(await paper(), 'dark')
  await guest.page.emulateMedia({ colorScheme: 'light' })
  assert.equal(await paper(), 'light')
  await choose(say('frame_theme_dark'))
  assert.equal(await paper(), 'dark')
  await guest.go('/users/sign_in')
  assert.equal(await paper(), 'dark')
  assert.equal(await guest.page.getByRole('radio', { name: say('frame_theme_dark') }).isChecked(), true)
  await choose(say('frame_theme_auto'))
  assert.equal(await paper(), 'light')
})

// tabTo presses Tab until an element has the focus, and checks that every stop is visible.
async function tabTo(guest, target) {
  for (let i = 0; i < 60; i++) {
    await guest.page.keyboard.press('Tab')
    const seen = await guest.page.evaluate(() => {
      const el = document.activeElement
      const box = el.getBoundingClientRect()
      const style = getComputedStyle(el)
      const label = el.labels?.[0] && getComputedStyle(el.labels[0])
      const around = el.closest('.box') && getComputedStyle(el.closest('.box')) // a field with its own foot
      const ring = [style, label, around].some(
        (s) => s && ((s.outlineStyle !== 'none' && s.outlineWidth !== '0px') || s.boxShadow !== 'none'),
      )
      return { what: el.outerHTML.slice(0, 80), inside: box.bottom > 0 && box.top < innerHeight, ring }
    })
    assert.ok(seen.inside && seen.ring, `the focus cannot be seen: ${JSON.stringify(seen)}`)
    if (await target.evaluate((el) => el === document.activeElement)) return
  }
  assert.fail('Tab does not lead there')
}

test('a secret is created and opened with the keyboard alone', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  await guest.go('/')
  await page.waitForFunction(() => document.activeElement.id === 'payload')
  await page.keyboard.type('typed on the keyboard')
  await tabTo(guest, page.locator('#passphrase'))
  await page.keyboard.type('open sesame')
  await tabTo(guest, page.getByRole('button', { name: say('create_submit'), exact: true }))
  await tabTo(guest, page.locator('#more summary'))
  await page.keyboard.press('Enter')
  await tabTo(guest, page.locator('#deletable'))
  await page.keyboard.press('Space')
  assert.equal(await page.locator('#deletable').isChecked(), false)
  await page.keyboard.press('Control+Enter')
  await guest.go(await madeLink(guest))
  await page.waitForFunction(() => document.activeElement.id === 'passphrase')
  await page.keyboard.type('open sesame')
  await tabTo(guest, page.getByRole('button', { name: say('step_open') }))
  await page.keyboard.press('Space')
  await page.getByRole('heading', { level: 1, name: say('reveal_title') }).waitFor()
  await tabTo(guest, page.locator('#secret'))
  assert.equal(await page.locator('#secret').innerText(), 'typed on the keyboard')
})

test('the kind is chosen with the arrow keys', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.page.locator('#kind-text').focus()
  await guest.page.keyboard.press('ArrowRight')
  assert.equal(await guest.page.locator('#kind-login').isChecked(), true)
})

test('nothing moves if the system asks for reduced motion', async (t) => {
  const guest = await scene.guest(t, { motion: 'reduce' })
  const push = await scene.pushbox.create({ payload: 'x' })
  await guest.go(scene.link(push))
  await guest.press(say('step_open'))
  await opened(guest)
  const moving = await guest.page.evaluate(() => {
    const seconds = (text) =>
      Math.max(...text.split(',').map((one) => parseFloat(one) * (one.trim().endsWith('ms') ? 0.001 : 1)))
    return [...document.querySelectorAll('*')]
      .filter((el) =>
        ['', '::before', '::after'].some((part) => {
          const style = getComputedStyle(el, part || null)
          return (
            seconds(style.transitionDuration) > 0.01 ||
            (style.animationName !== 'none' && seconds(style.animationDuration) > 0.01)
          )
        }),
      )
      .map((el) => el.outerHTML.slice(0, 80))
  })
  assert.deepEqual(moving, [])
})

test('times are shown in the time zone and language of the reader', async (t) => {
  const guest = await scene.guest(t, { zone: 'America/New_York', locale: 'de' })
  const push = await scene.pushbox.create({ payload: 'x', expire_after_days: 3 })
  await guest.go(scene.link(push))
  const format = new Intl.DateTimeFormat('de', {
    ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', timeZone: 'America/New_York' },
  })
  const time = guest.page.locator('main time')
  assert.equal(await time.textContent(), format.format(new Date(push.expires_at)))
  assert.match(await time.getAttribute('title'), /20\d\d.+GMT-[45]/)
})

test('the documentation of the API fits on four screens, and a link to a part unfolds it', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/help/api')
  assert.ok((await guest.page.evaluate(() => document.documentElement.scrollHeight)) <= 2400)
  await guest.go('about:blank')
  await guest.go('/help/api#create')
  const part = guest.page.locator('#create')
  await part.getByRole('button', { name: /^Copy the command/ }).waitFor()
  await part.getByText('expire_after_days', { exact: true }).waitFor()
})

test('every page has the headers that isolate it', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(404)
  const push = await scene.pushbox.create({ payload: 'x' })
  for (const path of [
    '/',
    '/users/sign_in',
    '/help/api',
    `/p/${push.url_token}`,
    `/p/${push.url_token}/r`,
    '/nothing/here',
  ]) {
    const headers = await (await guest.go(path)).allHeaders()
    assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';/, path)
    assert.doesNotMatch(headers['content-security-policy'], /unsafe|http|\*/, path)
    assert.match(headers['x-robots-tag'], /noindex/, path)
    assert.equal(headers['cache-control'], 'no-store', path)
    assert.equal(headers['x-content-type-options'], 'nosniff', path)
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin', path)
    assert.equal(headers['referrer-policy'], 'strict-origin', path)
  }
})

test('the end of an address goes along into another language, also on a page of an error', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(404, /ERR_FAILED/)
  await guest.go('/q/none#end')
  await guest.page.keyboard.press('Tab')
  await guest.page.keyboard.press('Enter')
  await guest.page.evaluate(() => { location.hash = 'another' })
  await guest.page.locator('.language summary').click()
  await guest.page.locator('.language a[hreflang=sv]').click()
  await guest.wholePage({ level: 1, name: say('problem_not_found_title', {}, 'sv') })
  assert.equal(new URL(guest.page.url()).hash, '#another')

  await guest.page.route('**/app*.js', (route) => route.abort()) // which adds the end to the links
  await guest.page.reload()
  for (const part of ['.language', '.skip']) assert.equal(await guest.page.locator(part).isVisible(), false)
})

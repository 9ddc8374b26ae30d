import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { arriveSignedIn, copy, signIn } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_LIMITS_SIGN_INS_PER_ACCOUNT: '5', PUSHBOX_LIMITS_SIGN_INS_PER_CLIENT: '1000' })

const members = ['/p', '/users/account', '/users/token', '/users/password', '/users/sessions', '/users/mfa']

// isSignedIn reports whether a page for accounts opens.
async function isSignedIn(guest) {
  await guest.go('/p')
  return new URL(guest.page.url()).pathname === '/p'
}

// turnOnMFA turns on the second factor and returns its secret and the recovery codes.
async function turnOnMFA(guest) {
  await guest.go('/users/mfa')
  const secret = await guest.page.locator('#secret').textContent()
  await guest.page.locator('#on-password').fill('correct horse battery')
  await guest.page.getByLabel(say('mfa_code'), { exact: true }).fill(codeOf(secret))
  await guest.press(say('mfa_go'))
  await guest.wholePage({ level: 1, name: say('mfa_codes_title') })
  return { secret, codes: await guest.page.locator('#codes code').allTextContents() }
}

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`an account signs in and out${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    const cookies = await guest.context.cookies()
    const session = cookies.find((cookie) => cookie.name === '__Host-pushbox')
    assert.deepEqual([session.httpOnly, session.secure, session.sameSite, session.path], [true, true, 'Lax', '/'])
    await guest.page.locator('summary', { hasText: say('frame_account') }).click()
    assert.match(await guest.page.locator('header').innerText(), new RegExp(account.email))
    await guest.press(say('frame_sign_out'))
    await guest.wholePage({ name: say('sign_in_title') })
    assert.equal(await isSignedIn(guest), false)
    await guest.context.addCookies([session]) // the server has ended it, too
    assert.equal(await isSignedIn(guest), false)
  })

  test(`a wrong password is reported, and the form comes back without it${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    guest.foresee(403)
    await signIn(guest, { ...account, password: 'something else altogether' })
    await guest.page.getByRole('alert').getByText(say('sign_in_wrong')).waitFor()
    assert.equal(await guest.page.getByLabel(say('sign_in_email')).inputValue(), account.email)
    assert.equal(await guest.page.getByLabel(say('sign_in_password'), { exact: true }).inputValue(), '')
    assert.equal(await isSignedIn(guest), false)
  })

  test(`the first empty field of a sign-in has the focus, but not on a phone${how}`, async (t) => {
    const account = await scene.account()
    for (const touch of [false, true]) {
      const guest = await scene.guest(t, { script, touch })
      guest.foresee(403)
      await guest.go('/users/sign_in')
      const focused = async (id) => guest.page.locator(`#${id}`).evaluate((field) => field === document.activeElement)
      assert.equal(await focused('email'), script && !touch)
      await signIn(guest, { ...account, password: 'something else altogether' })
      await guest.page.getByRole('alert').waitFor()
      await guest.ready()
      assert.equal(await focused('password'), script && !touch)
      await guest.leave()
    }
  })

  test(`an API token is created, works, and is revoked${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    await guest.go('/users/token')
    await guest.page.locator('#password').fill(account.password)
    await guest.page.getByLabel(say('token_label'), { exact: true }).fill('a robot')
    await guest.page
      .getByLabel(say('token_lifetime'), { exact: true })
      .selectOption({ label: say('token_days', { count: 30 }) })
    await guest.press(say('token_make'))
    await guest.wholePage({ name: say('token_made_title') })
    const token = await guest.page.locator('#token').textContent()
    const ask = async () =>
      fetch(`${scene.pushbox.url}/api/v2/pushes/active`, { headers: { Authorization: `Bearer ${token}` } })
    assert.equal((await ask()).status, 200)
    await guest.go('/users/token')
    const row = guest.page.getByRole('row', { name: /a robot/ })
    assert.equal((await guest.page.content()).includes(token), false)
    assert.equal(await row.getByRole('cell').nth(1).getByRole('time').count(), 1) // used
    await row.locator('summary').click()
    await row.getByRole('button', { name: say('token_revoke_sure') }).click()
    await row.waitFor({ state: 'detached' })
    assert.equal((await ask()).status, 401)
  })

  test(`a new password ends the other sessions${how}`, async (t) => {
    const account = await scene.account()
    const [guest, elsewhere] = [await scene.guest(t, { script }), await scene.guest(t, { script })]
    await arriveSignedIn(guest, account)
    await arriveSignedIn(elsewhere, account)
    await guest.go('/users/password')
    await guest.page.getByLabel(say('password_old'), { exact: true }).fill(account.password)
    for (const key of ['password_new', 'password_again']) {
      await guest.page.getByLabel(say(key), { exact: true }).fill('another horse battery')
    }
    await guest.press(say('password_go'))
    await guest.page.getByText(say('notice_password')).waitFor()
    assert.equal(await isSignedIn(guest), true)
    assert.equal(await isSignedIn(elsewhere), false)
    elsewhere.foresee(403)
    await signIn(elsewhere, account)
    await elsewhere.page.getByText(say('sign_in_wrong')).waitFor()
    await arriveSignedIn(elsewhere, { ...account, password: 'another horse battery' })
  })

  test(`a second factor is turned on, asked for, and turned off${how}`, async (t) => {
    const account = await scene.account()
    const [guest, elsewhere] = [await scene.guest(t, { script }), await scene.guest(t, { script })]
    await arriveSignedIn(guest, account)
    const { secret, codes } = await turnOnMFA(guest)
    assert.equal(new Set(codes).size, 10)

    await signIn(elsewhere, account)
    await elsewhere.wholePage({ name: say('sign_in_code_title') })
    assert.equal(await isSignedIn(elsewhere), false)
    await elsewhere.go('/users/sign_in')
    elsewhere.foresee(403)
    const valid = [-2, -1, 0, 1, 2, 3].map((later) => codeOf(secret, later))
    const wrong = ['000000', '000001', '000002', '000003', '000004', '000005', '000006'].find((code) => !valid.includes(code))
    await elsewhere.page.getByLabel(say('sign_in_code'), { exact: true }).fill(wrong)
    await elsewhere.press(say('sign_in_code_go'))
    await elsewhere.page.getByText(say('sign_in_code_wrong')).waitFor()
    const code = elsewhere.page.locator('[name=code][aria-invalid=true]')
    assert.match(await code.getAttribute('aria-describedby'), /code-error/)
    assert.ok(await code.evaluate((field) => field === document.activeElement))
    await elsewhere.page.getByLabel(say('sign_in_code'), { exact: true }).fill(codeOf(secret, 1)) // the one before is used up
    await elsewhere.press(say('sign_in_code_go'))
    await elsewhere.page.getByRole('link', { name: say('frame_pushes') }).waitFor()

    await guest.go('/users/mfa')
    await guest.page.locator('summary', { hasText: say('mfa_off_go') }).click()
    await guest.page.locator('[action$="/mfa/off"] [name=password]').fill(account.password)
    await guest.page.locator('[action$="/mfa/off"] [name=code]').fill(codes[0])
    await guest.press(say('mfa_off_go'))
    await guest.page.getByText(say('notice_mfa_off')).waitFor()
    const third = await scene.guest(t, { script })
    await arriveSignedIn(third, account)
  })
}

test('a recovery code signs in once', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  const {
    codes: [code],
  } = await turnOnMFA(guest)
  const use = async () => {
    const other = await scene.guest(t)
    other.foresee(403)
    await signIn(other, account)
    await other.page.getByText(say('sign_in_recovery_more')).click()
    await other.page.getByLabel(say('sign_in_recovery'), { exact: true }).fill(code)
    await other.press(say('sign_in_recovery_go'))
    return other
  }
  await (await use()).page.getByRole('link', { name: say('frame_pushes') }).waitFor()
  await (await use()).page.getByText(say('sign_in_code_wrong')).waitFor()
})

test('new recovery codes replace the old ones', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  const { codes } = await turnOnMFA(guest)
  await guest.go('/users/mfa')
  await guest.page.locator('summary', { hasText: say('mfa_codes_new') }).click()
  await guest.page.locator('[action$="/mfa/codes"] [name=password]').fill(account.password)
  await guest.page.locator('[action$="/mfa/codes"] [name=code]').fill(codes[0])
  await guest.press(say('mfa_codes_go'))
  await guest.page.getByText(say('mfa_codes_replaced')).waitFor()
  const fresh = await guest.page.locator('#codes code').allTextContents()
  assert.equal(new Set([...codes, ...fresh]).size, 20)
  await guest.context.grantPermissions(['clipboard-read'])
  await copy(guest, say('token_copy'))
  const copied = await guest.page.evaluate(() => navigator.clipboard.readText())
  assert.deepEqual(copied.trim().split(/\s+/), fresh)
})

// That of a client lasts for seconds, which may pass on a busy machine.
test('after several wrong passwords, sign-ins to that account are locked for a while', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  guest.foresee(403, 429)
  for (let i = 0; i < 5; i++) {
    await signIn(guest, { ...account, password: `wrong password ${i}` })
    await guest.page.getByRole('alert').waitFor()
  }
  await signIn(guest, account)
  await guest.page.getByText(say('sign_in_locked')).waitFor()
  await guest.page.getByText(say('sign_in_retry_after')).getByRole('time').waitFor()
})

test('a session ended in another browser ends', async (t) => {
  const account = await scene.account()
  const [guest, other, third] = [await scene.guest(t), await scene.guest(t), await scene.guest(t)]
  for (const one of [guest, other, third]) await arriveSignedIn(one, account)
  await guest.go('/users/sessions')
  const rows = guest.page.locator('tbody tr')
  assert.equal(await rows.count(), 3)
  assert.equal(await guest.page.getByText(say('sessions_own')).count(), 1)
  await guest.page
    .getByRole('button', { name: say('sessions_end'), exact: true })
    .first()
    .click()
  await rows.nth(2).waitFor({ state: 'detached' })
  assert.deepEqual([await isSignedIn(other), await isSignedIn(third)].toSorted(), [false, true])
  await guest.go('/users/sessions')
  await guest.press(say('sessions_others'))
  await rows.nth(1).waitFor({ state: 'detached' })
  assert.deepEqual([await isSignedIn(guest), await isSignedIn(other), await isSignedIn(third)], [true, false, false])
})

test('the pages of an account lead an anonymous visitor to the sign-in page', async (t) => {
  const guest = await scene.guest(t)
  for (const path of members) {
    await guest.go(path)
    assert.equal(new URL(guest.page.url()).pathname, '/users/sign_in', path)
  }
})

test('signing in leads to the page that was wanted', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/p?state=expired')
  const { email, password } = await scene.account()
  await guest.page.getByLabel(say('sign_in_email')).fill(email)
  await guest.page.getByLabel(say('sign_in_password'), { exact: true }).fill(password)
  await guest.press(say('sign_in_go'), guest.page.locator('main'))
  await guest.page.waitForURL('**/p?state=expired')
})

test('recovery codes are saved as a file', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  const { codes } = await turnOnMFA(guest)
  const download = await guest.download(() => guest.press(say('mfa_download')))
  const { state, filePath } = await download.end()
  assert.equal(state, 'completed')
  assert.deepEqual((await readFile(filePath, 'utf8')).trim().split('\n'), codes)
  await guest.go('/users/mfa')
  await guest.page.getByText(say('mfa_codes_left', { left: 10, all: 10 })).waitFor()
})

test('no account can be created if sign-up is off', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(404)
  assert.equal((await guest.go('/users/sign_up')).status(), 404)
  assert.equal(await guest.page.getByRole('link', { name: say('frame_sign_up') }).count(), 0)
  const form = new URLSearchParams({ email: 'someone@example.com', password: 'correct horse battery' })
  const { status } = await fetch(`${scene.pushbox.url}/users/sign_up`, { method: 'POST', body: form })
  assert.equal(status, 404)
})

test('over plain HTTP the cookie of a session has another name', async (t) => {
  const guest = await scene.guest(t, { at: scene.plain.url })
  await arriveSignedIn(guest, await scene.account())
  const names = (await guest.context.cookies()).map((cookie) => cookie.name)
  assert.ok(names.includes('pushbox_session') && !names.includes('__Host-pushbox'), names.join(' '))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, signIn } from './lib/acts.js'
import { addDevice, addPasskey, touches } from './lib/device.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'
import { say } from './lib/words.js'

const scene = setScene({})
const password = 'correct horse battery'

const signedIn = (guest) => guest.page.getByRole('link', { name: say('frame_pushes'), exact: true }).waitFor()

// signOut leads to the page for signing in, which asks the browser to suggest passkeys. The
// browser would take one at once.
async function signOut(guest) {
  await touches(guest, false)
  await guest.page.locator('summary', { hasText: say('frame_account') }).click()
  await guest.press(say('frame_sign_out'))
  await guest.page.getByText(say('notice_signed_out')).waitFor()
}

// usePasskey presses a button and touches the device.
async function usePasskey(guest, button) {
  await guest.page.getByRole('button', { name: button }).waitFor()
  await touches(guest, true)
  await guest.press(button)
}

test('a passkey is added, signs in alone and as second factor, and is removed', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await addDevice(guest)
  await arriveSignedIn(guest, account)
  await addPasskey(guest, 'Laptop')
  await guest.wholePage({ level: 1, name: say('mfa_codes_title') })
  assert.equal(await guest.page.locator('#codes code').count(), 10)
  const { credentials } = await guest.devtools.send('WebAuthn.getCredentials', { authenticatorId: guest.device })
  assert.deepEqual(credentials.map(({ rpId, isResidentCredential }) => [rpId, isResidentCredential]), [['pushbox.test', true]])

  await signOut(guest)
  await usePasskey(guest, say('passkey_sign_in'))
  await signedIn(guest)

  await signOut(guest)
  await signIn(guest, account)
  await guest.wholePage({ level: 1, name: say('sign_in_code_title') })
  assert.equal(await guest.page.getByLabel(say('sign_in_code'), { exact: true }).count(), 0) // there is no app
  await usePasskey(guest, say('passkey_use'))
  await signedIn(guest)

  await guest.go('/users/token')
  await guest.page.locator('#password').fill(password)
  await guest.press(say('token_make'))
  await guest.wholePage({ level: 1, name: say('token_made_title') })

  await addPasskey(guest, 'Laptop again') // the passkey proves the account, and the device says that it has one
  await guest.page.getByText(say('passkey_not_made')).waitFor()

  await guest.page.keyboard.press('Escape')
  const row = guest.page.getByRole('row', { name: /Laptop/ })
  await row.locator('summary').click()
  await row.getByLabel(say('mfa_password')).fill(password)
  await row.getByRole('button', { name: say('passkey_remove_sure') }).click()
  await guest.page.getByText(say('notice_passkey_removed')).waitFor()
  await signOut(guest)
  guest.foresee(403)
  const refusal = guest.page.waitForResponse((response) => response.status() === 403)
  await usePasskey(guest, say('passkey_sign_in'))
  await refusal
  await touches(guest, false)
  await guest.page.getByText(say('passkey_wrong')).waitFor()
  await arriveSignedIn(guest, account) // the password is enough
})

test('an old security key is a second factor', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await addDevice(guest, { old: true })
  await arriveSignedIn(guest, account)
  await addPasskey(guest, 'Key ring')
  await guest.wholePage({ level: 1, name: say('mfa_codes_title') })
  await signOut(guest)
  await signIn(guest, account)
  await usePasskey(guest, say('passkey_use'))
  await signedIn(guest)
})

test('the browser suggests the passkey where the address is typed', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await addDevice(guest)
  await arriveSignedIn(guest, account)
  await addPasskey(guest, 'Laptop')
  await guest.wholePage({ level: 1, name: say('mfa_codes_title') })
  await guest.context.clearCookies()
  await guest.go('/users/sign_in') // and the user takes the suggestion
  await signedIn(guest)
})

test('an authenticator app and a passkey are each enough', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await addDevice(guest)
  await arriveSignedIn(guest, account)
  await guest.go('/users/mfa')
  const secret = await guest.page.locator('#secret').textContent()
  await guest.page.locator('#on-password').fill(password)
  await guest.page.locator('#code').fill(codeOf(secret))
  await guest.press(say('mfa_go'))
  await guest.wholePage({ level: 1, name: say('mfa_codes_title') })
  const codes = await guest.page.locator('#codes code').allTextContents()
  await addPasskey(guest, 'Phone', codes[0])
  await guest.page.getByText(say('notice_passkey_added')).waitFor()
  await signOut(guest)
  await signIn(guest, account)
  await guest.page.getByLabel(say('sign_in_code'), { exact: true }).fill(codeOf(secret, 1))
  await guest.press(say('sign_in_code_go'))
  await signedIn(guest)
  await guest.go('/users/mfa')
  await guest.page.locator('summary', { hasText: say('mfa_app_off') }).click()
  await guest.page.locator('[action$="/mfa/off"] [name=password]').fill(password)
  await guest.page.locator('[action$="/mfa/off"] [name=code]').fill(codes[1])
  await guest.press(say('mfa_app_off'))
  await guest.page.getByText(say('notice_mfa_app_off')).waitFor()
  await signOut(guest)
  await signIn(guest, account)
  await usePasskey(guest, say('passkey_use'))
  await signedIn(guest)
})

for (const [name, options] of [['without scripts', { script: false }], ['without TLS', { at: 'plain' }]]) {
  test(`no passkey is offered ${name}`, async (t) => {
    const guest = await scene.guest(t, { ...options, ...(options.at && { at: scene[options.at].url }) })
    const account = await scene.account()
    await guest.go('/users/sign_in')
    assert.equal(await guest.page.getByRole('button', { name: say('passkey_sign_in') }).count(), 0)
    await arriveSignedIn(guest, account)
    await guest.go('/users/mfa')
    assert.equal(await guest.page.getByRole('button', { name: say('passkey_add') }).count(), 0)
  })
}

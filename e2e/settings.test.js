import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'

import { arriveSignedIn, makePush, signIn } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'
import { say } from './lib/words.js'

// Settings that people notice.
const folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
const logo = path.join(folder, 'logo.svg')
await writeFile(
  logo,
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>window.pwned = 1</script><rect width="40" height="20"/></svg>',
)
after(() => rm(folder, { recursive: true }))

const scene = setScene(
  {
    PUSHBOX_ALLOW_ANONYMOUS: 'false',
    PUSHBOX_ENABLE_SIGNUPS: 'true',
    PUSHBOX_SIGNUP_EMAIL_REGEXP: String.raw`.+@example\.com`,
    PUSHBOX_REQUIRE_MFA: 'true',
    PUSHBOX_ENABLE_QR_PUSHES: 'false',
    PUSHBOX_DEFAULT_LOCALE: 'de',
    PUSHBOX_BRAND_TITLE: 'Ärger & <b>Söhne</b>',
    PUSHBOX_BRAND_TAGLINE: 'what we "say"',
    PUSHBOX_BRAND_FOOTER: 'run by us <script>pwned = 1</script>',
    PUSHBOX_BRAND_LOGO_FILE: logo,
  },
  {},
  { empty: true },
)

const password = 'correct horse battery'

// fillAccount fills in and sends the form of a new account.
async function fillAccount(guest, email) {
  await guest.page.getByLabel(say('sign_up_email'), { exact: true }).fill(email)
  await guest.page.getByLabel(say('sign_up_password'), { exact: true }).fill(password)
  await guest.press(say('sign_up_make'))
}

// setUpMFA sets up the required second factor and returns its secret.
async function setUpMFA(guest) {
  await guest.page.getByText(say('mfa_required')).waitFor()
  const secret = await guest.page.locator('#secret').textContent()
  await guest.page.locator('#on-password').fill(password)
  await guest.page.getByLabel(say('mfa_code'), { exact: true }).fill(codeOf(secret))
  await guest.press(say('mfa_go'))
  await guest.wholePage({ name: say('mfa_codes_title') })
  return secret
}

test('the link that serve prints creates the first account, once', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(404)
  const { url } = await scene.pushbox.log.first('the link for the first account', (line) => line.url?.includes('/users/first/'))
  const where = new URL(url).pathname
  assert.equal((await guest.go('/users/first/AAAAAAAAAAAAAAAAAAAAAAAAAA')).status(), 404)
  await guest.go(where)
  await guest.wholePage({ name: say('first_title') })
  await fillAccount(guest, 'first@example.com')
  await setUpMFA(guest)
  assert.equal((await guest.go(where)).status(), 404)
  await guest.go('/p')
  await guest.wholePage({ name: say('list_heading') })
  const others = scene.pushbox.log.entries.filter((line) => line.url !== url) // the line for the administrator has it
  assert.doesNotMatch(JSON.stringify(others), new RegExp(where.split('/').at(-1)))
})

test('an allowed address signs up, and must set up a second factor first', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/users/sign_in')
  await guest.page.getByRole('link', { name: say('sign_in_sign_up') }).click()
  guest.foresee(422)
  await fillAccount(guest, 'eve@example.org')
  await guest.page.getByRole('alert').getByText(say('sign_up_email_foreign')).waitFor()
  await guest.go('/users/sign_up')
  await fillAccount(guest, 'eve@example.com')
  await guest.page.getByText(say('notice_signed_up')).waitFor()
  assert.equal(await guest.page.locator('#email').inputValue(), 'eve@example.com')
  await signIn(guest, { email: 'eve@example.com', password })
  const secret = await setUpMFA(guest)
  await guest.go('/users/mfa')
  await guest.page.getByText(say('mfa_stays')).waitFor()
  assert.equal(await guest.page.getByRole('button', { name: say('mfa_off_go') }).count(), 0)
  const again = await scene.guest(t)
  await signIn(again, { email: 'eve@example.com', password })
  await again.page.getByLabel(say('sign_in_code'), { exact: true }).fill(codeOf(secret, 1))
  await again.press(say('sign_in_code_go'))
  await again.wholePage({ name: say('create_heading') })
})

test('signing up does not reveal whether an address has an account', async (t) => {
  const guest = await scene.guest(t)
  await scene.pushbox.account('taken@example.com')
  for (const email of ['taken@example.com', 'free@example.com']) {
    await guest.go('/users/sign_up')
    await fillAccount(guest, email)
    await guest.page.getByText(say('notice_signed_up')).waitFor()
  }
  guest.foresee(403)
  await signIn(guest, { email: 'taken@example.com', password: 'something else altogether' })
  await guest.page.getByText(say('sign_in_wrong')).waitFor()
})

test('without anonymous access only accounts can send, and links still open', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await guest.go('/')
  await guest.wholePage({ name: say('sign_in_title') })
  const sender = await scene.guest(t)
  await signIn(sender, account)
  await setUpMFA(sender) // which its API token needs, too
  const push = await scene.pushbox.create({ payload: 'for all settings' }, account)
  await guest.go(scene.link(push))
  await guest.press(say('step_open'))
  await guest.page.getByText('for all settings').waitFor()
})

test('a disabled kind is not offered', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  await signIn(guest, account)
  await setUpMFA(guest)
  await makePush(guest, { payload: 'x' })
  await guest.go('/')
  assert.equal(await guest.page.locator('#kind-qr').count(), 0)
  assert.equal(await guest.page.locator('#kind-url').count(), 1)
})

test('the brand is shown as set, as text', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/users/sign_in')
  assert.match(await guest.page.title(), /Ärger & <b>Söhne<\/b>$/)
  const header = await guest.page.locator('.brand').innerText()
  assert.ok(header.includes('Ärger & <b>Söhne</b>') && header.includes('what we "say"'), header)
  assert.ok((await guest.page.locator('footer').innerText()).includes('run by us <script>pwned = 1</script>'))
  assert.equal(await guest.page.locator('.brand img').evaluate((img) => img.complete && img.naturalWidth), 40)
  guest.foresee(/^Blocked script execution/)
  await guest.go(await guest.page.locator('.brand img').getAttribute('src')) // its script does not run there either
  assert.equal(await guest.pwned(), undefined)
})

test('a browser without a known language gets that of the server', async (t) => {
  const guest = await scene.guest(t, { locale: 'ko-KR' })
  await guest.go('/users/sign_in')
  assert.equal(await guest.page.locator('html').getAttribute('lang'), 'de')
  await guest.wholePage({ name: say('sign_in_title', {}, 'de') })
})

import { test } from 'node:test'

import { answer, arriveSignedIn, askFor, chooseKind, fillPush, makePush, openPush, sendPush, sent, signIn, skipChecks, tokenOf, unveil } from './lib/acts.js'
import { addDevice, addPasskey, touches } from './lib/device.js'
import { look, pictured } from './lib/look.js'
import { setScene } from './lib/scene.js'
import { goToStyleguide } from './lib/styleguide.js'
import { codeOf } from './lib/totp.js'
import { say, speak, spoken } from './lib/words.js'

const policies = '[{name: finance, kinds: [text, file], require_passphrase: true, require_encryption: true, expire_after_days_max: 3}]'
const scene = setScene({ PUSHBOX_POLICIES: policies, PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_ENABLE_SIGNUPS: 'true', PUSHBOX_SIGNUP_EMAIL_REGEXP: String.raw`.+@example\.com` })

const long = 'Verylongnamewithoutanyplacetobreakit'.repeat(5)
const password = 'correct horse battery'
const members = {} // accounts that have signed in, with their cookies

// signedIn signs in an account, once for all tests in a language.
async function signedIn(guest, title) {
  const name = `${spoken} ${title}`
  if (members[name]) {
    await guest.context.addCookies(members[name].cookies)
    return members[name].account
  }
  const account = await scene.account()
  await arriveSignedIn(guest, account)
  members[name] = { account, cookies: await guest.context.cookies() }
  return account
}

async function askForToken(guest, label) {
  await guest.go('/users/token')
  await guest.page.locator('#password').fill(password)
  await guest.page.locator('#label').fill(label)
  await guest.press(say('token_make'))
  await guest.wholePage({ name: say('token_made_title') })
}

async function turnOnMFA(guest) {
  await guest.go('/users/mfa')
  const secret = await guest.page.locator('#secret').textContent()
  await guest.page.locator('#on-password').fill(password)
  await guest.page.locator('#code').fill(codeOf(secret))
  await guest.press(say('mfa_go'))
  await guest.wholePage({ name: say('mfa_codes_title') })
}

// withPasskey signs in an account that gets a passkey.
async function withPasskey(guest, name) {
  await addDevice(guest)
  await arriveSignedIn(guest, await scene.account())
  await addPasskey(guest, name)
  await guest.wholePage({ name: say('mfa_codes_title') })
}

// How to open every page in each of its states.
const pages = {
  styleguide: goToStyleguide,
  create: async (guest) => {
    await guest.go('/')
  },
  'create-policy': async (guest) => {
    guest.foresee(422)
    const account = await scene.account()
    await scene.pushbox.govern(account, 'finance')
    await arriveSignedIn(guest, account)
    await guest.go('/')
    await skipChecks(guest)
    await fillPush(guest, { payload: 'text' })
    await sendPush(guest)
    await guest.page.getByRole('alert').waitFor()
  },
  'create-generator': async (guest) => {
    await guest.go('/')
    await fillPush(guest, { payload: 'text', passphrase: 'correct horse' })
    await guest.page.locator('[data-generate=passphrase]').click()
    await guest.page.waitForFunction(() => document.querySelector('#made').value)
  },
  'create-login': async (guest) => {
    await guest.go('/')
    await chooseKind(guest, 'login')
    await guest.page.locator('[data-generate=login-password]').click()
    await guest.page.waitForFunction(() => document.querySelector('#made').value)
  },
  'push-login': async (guest) => {
    const payload = `User name: ann\nPassword: ${long}\nOne-time code seed: JBSWY3DPEHPK3PXP\nNote: first\nsecond`
    await openPush(scene, guest, await scene.pushbox.create({ payload }))
    await guest.page.locator('#login-code').waitFor()
  },
  'create-files': async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/')
    await chooseKind(guest, 'file')
    await fillPush(guest, {
      files: ['a.txt', `${long}.txt`].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('x') })),
    })
  },
  'create-url': async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/')
    await chooseKind(guest, 'url')
  },
  'create-problems': async (guest) => {
    guest.foresee(422)
    await guest.go('/')
    await skipChecks(guest)
    await fillPush(guest, { payload: ' ', days: 0, views: 1000, passphrase: 'x'.repeat(1025) })
    await sendPush(guest)
    await guest.page.getByRole('alert').waitFor()
  },
  made: async (guest) => {
    await makePush(guest, { payload: 'text', passphrase: 'open sesame' })
    await guest.page.locator('.ways summary').click()
  },
  'receipt-opened': async (guest) => {
    await signedIn(guest, 'busy')
    const link = await makePush(guest, { payload: 'text', passphrase: 'open sesame', name: long })
    for (const passphrase of ['wrong', 'open sesame'])
      await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`, { headers: { 'X-Push-Passphrase': passphrase } })
    await guest.page.reload()
    await guest.page.locator('.danger summary').click()
  },
  'receipt-ended': async (guest) => {
    await makePush(guest, { payload: 'text' })
    await guest.page.locator('.danger summary').click()
    await guest.press(say('list_expire_now'))
    await guest.page.getByRole('heading', { name: say('list_state_deleted') }).waitFor()
  },
  step: async (guest) => {
    await guest.go(scene.link(await scene.pushbox.create({ payload: 'text' })))
  },
  'step-passphrase': async (guest) => {
    guest.foresee(401, 403)
    const push = await scene.pushbox.create({ payload: 'text', passphrase: 'open sesame', expire_after_views: 1 })
    await openPush(scene, guest, push, 'wrong')
    await guest.page.getByRole('alert').waitFor()
  },
  'step-locked': async (guest) => {
    guest.foresee(401, 403, 429)
    const push = await scene.pushbox.create({ payload: 'text', passphrase: 'open sesame' })
    for (let i = 0; i < 6; i++) await openPush(scene, guest, push, 'wrong')
    await guest.page.getByText(say('step_locked')).waitFor()
  },
  'push-text': async (guest) => {
    const push = await scene.pushbox.create({ payload: 'veiled\n'.repeat(3), retrieval_step: false })
    await openPush(scene, guest, push)
    await guest.page.getByRole('button', { name: say('reveal_unveil') }).waitFor()
  },
  'push-text-shown': async (guest) => {
    const push = await scene.pushbox.create({
      payload: `${long}\n\n日本語\n\tcode { }\n${'words '.repeat(60)}`,
      expire_after_views: 3,
    })
    await fetch(push.json_url)
    await openPush(scene, guest, push)
    await unveil(guest)
    await guest.page.getByText(say('reveal_delete'), { exact: true }).click()
  },
  'push-copied': async (guest) => {
    await guest.context.grantPermissions(['clipboard-write'])
    await openPush(scene, guest, await scene.pushbox.create({ payload: 'copied' }))
    await unveil(guest)
    await guest.page.locator('[data-copy]').click()
    await guest.press(say('reveal_clear'))
    await guest.page.locator('#clear p').waitFor()
  },
  'push-last': async (guest) => {
    await openPush(scene, guest, await scene.pushbox.create({ payload: 'last', expire_after_views: 1 }))
    await unveil(guest)
  },
  'push-url': async (guest) => {
    await openPush(scene, guest, await scene.pushbox.create({ kind: 'url', payload: `https://pаypal.example/${long}` }))
  },
  'push-qr': async (guest) => {
    await openPush(scene, guest, await scene.pushbox.create({ kind: 'qr', payload: 'WIFI:T:WPA;S:café;P:secret;;' }))
    await guest.page.getByText(say('reveal_qr_text'), { exact: true }).click()
  },
  'push-files': async (guest) => {
    await openPush(
      scene,
      guest,
      await scene.pushbox.push({ name: 'report.pdf', content: 'x' }, { name: `${long}.pdf`, content: 'x'.repeat(3000) }),
    )
  },
  'push-own': async (guest) => {
    const account = await signedIn(guest, 'busy')
    await openPush(scene, guest, await scene.pushbox.create({ payload: 'mine' }, account))
  },
  deleted: async (guest) => {
    await openPush(scene, guest, await scene.pushbox.create({ payload: 'text' }))
    await guest.page.getByText(say('reveal_delete'), { exact: true }).click()
    await guest.press(say('reveal_delete_yes'))
    await guest.wholePage({ name: say('reveal_deleted_title') })
  },
  'problem-not-found': async (guest) => {
    guest.foresee(404)
    await guest.go('/nothing/here')
  },
  'problem-forbidden': async (guest) => {
    guest.foresee(403, 404)
    await signedIn(guest, 'new')
    await guest.go(`/p/${(await scene.pushbox.create({ payload: 'x' })).url_token}/audit`)
  },
  'own-empty': async (guest) => {
    await signedIn(guest, 'new')
    await guest.go('/p')
  },
  own: async (guest) => {
    const account = await signedIn(guest, 'busy')
    for (const name of ['', 'for the printer', long]) await scene.pushbox.create({ payload: 'x', name }, account)
    await guest.go('/p')
    await guest.page.locator('tbody summary').first().click()
  },
  'own-expired': async (guest) => {
    const account = await signedIn(guest, 'busy')
    for (const name of ['deleted', long])
      await scene.pushbox.expire(await scene.pushbox.create({ payload: 'x', name }, account), account)
    await guest.go('/p?state=expired')
  },
  'own-deleted': async (guest) => {
    const account = await signedIn(guest, 'busy')
    for (const name of [long, 'brief']) await scene.pushbox.create({ payload: 'x', name, expire_after_duration: 0 }, account)
    await guest.go('/p?order=end&news=soon')
    await guest.page.getByRole('checkbox', { name: say('list_choose', { name: long }) }).check()
    await guest.page.getByText(say('list_delete_chosen'), { exact: true }).click()
    await guest.press(say('list_delete_chosen_now'))
    await guest.page.getByText(say('notice_deleted', { name: long })).waitFor()
    await guest.page.getByRole('checkbox', { name: say('list_choose', { name: 'brief' }) }).check()
    await guest.page.getByText(say('list_delete_chosen'), { exact: true }).click()
  },
  'own-search': async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/p?q=nothing+like+it')
  },
  audit: async (guest) => {
    const account = await signedIn(guest, 'busy')
    guest.foresee(422)
    const push = await scene.pushbox.create({ payload: 'x', name: long, note: `a note\n${long}`, passphrase: 'x' }, account)
    for (const passphrase of ['wrong', 'x'])
      await fetch(push.json_url, {
        headers: { 'User-Agent': long, Referer: `https://example.com/${long}`, 'X-Push-Passphrase': passphrase },
      })
    await guest.go(`/p/${push.url_token}/audit`)
    await guest.page.locator('#edit summary').click()
    await guest.page.locator('#days').fill('1000')
    await guest.press(say('edit_save'))
    await guest.page.getByRole('alert').waitFor()
  },
  'audit-expired': async (guest) => {
    const account = await signedIn(guest, 'busy')
    const push = await scene.pushbox.create({ payload: 'x' }, account)
    await scene.pushbox.expire(push, account)
    await guest.go(`/p/${push.url_token}/audit`)
  },
  'sign-in': async (guest) => {
    await guest.go('/p')
    await guest.page.getByText(say('sign_in_wanted')).waitFor()
    await guest.page.getByText(say('sign_in_forgotten')).click()
  },
  'sign-in-wrong': async (guest) => {
    guest.foresee(403)
    await signIn(guest, { email: 'unknown@example.com', password })
    await guest.page.getByRole('alert').waitFor()
  },
  'sign-up': async (guest) => {
    guest.foresee(422)
    await guest.go('/users/sign_up')
    await guest.page.locator('#email').fill('eve@example.org')
    await guest.page.locator('#password').fill(password)
    await guest.press(say('sign_up_make'))
    await guest.page.getByRole('alert').waitFor()
  },
  'account-menu': async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/')
    await guest.page.locator('header nav summary').click()
  },
  'tokens-empty': async (guest) => {
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    await guest.go('/users/token')
  },
  'token-made': async (guest) => {
    await signedIn(guest, 'busy')
    await askForToken(guest, 'a robot')
  },
  tokens: async (guest) => {
    await signedIn(guest, 'busy')
    await askForToken(guest, 'W'.repeat(60))
    await guest.go('/users/token')
    await guest.page.locator('tbody summary').first().click()
  },
  password: async (guest) => {
    guest.foresee(422)
    await signedIn(guest, 'busy')
    await guest.go('/users/password')
    await guest.page.locator('#old').fill(password)
    await guest.page.locator('#new').fill('another horse battery')
    await guest.page.locator('#again').fill('and yet another one')
    await guest.press(say('password_go'))
    await guest.page.getByRole('alert').waitFor()
  },
  account: async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/users/account')
    await guest.page.locator('.tasks summary').click()
  },
  webhooks: async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/users/webhooks')
  },
  sessions: async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/users/sessions')
  },
  mfa: async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/users/mfa')
    await guest.page.getByText(say('mfa_secret_more')).click()
  },
  'mfa-codes': async (guest) => {
    await signedIn(guest, 'safe')
    await turnOnMFA(guest)
  },
  'mfa-on': async (guest) => {
    await arriveSignedIn(guest, await scene.account())
    await turnOnMFA(guest)
    await guest.go('/users/mfa')
  },
  'mfa-passkeys': async (guest) => {
    await withPasskey(guest, long.slice(0, 100))
    await guest.go('/users/mfa')
    await guest.page.getByText(say('mfa_app_add')).click()
    await guest.page.locator('tbody .pop summary').click()
  },
  'sign-in-passkey': async (guest) => {
    const account = await scene.account()
    await addDevice(guest)
    await arriveSignedIn(guest, account)
    await turnOnMFA(guest)
    await addPasskey(guest, 'Phone', await guest.page.locator('#codes code').first().textContent())
    await guest.page.getByText(say('notice_passkey_added')).waitFor()
    await guest.context.clearCookies()
    await touches(guest, false)
    await signIn(guest, account)
    await guest.page.getByRole('button', { name: say('passkey_use') }).waitFor()
  },
  'tokens-passkey': async (guest) => {
    await withPasskey(guest, 'Phone')
    await guest.go('/users/token')
  },
  'sign-in-code': async (guest) => {
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    await turnOnMFA(guest)
    await guest.context.clearCookies()
    guest.foresee(403)
    await signIn(guest, account)
    await guest.page.locator('#code').fill('abc')
    await guest.press(say('sign_in_code_go'))
    await guest.page.getByRole('alert').waitFor()
    await guest.page.getByText(say('sign_in_recovery_more')).click()
  },
  'link-qr': async (guest) => {
    await guest.go(`/p/${(await scene.pushbox.create({ payload: 'x' })).url_token}/preview`)
  },
  'made-encrypted': async (guest) => {
    await makePush(guest, { payload: 'text', encrypt: true })
    await guest.page.locator('.ways summary').click()
  },
  'login-encrypted': async (guest) => {
    const payload = `User name: ann\nPassword: ${long}\nOne-time code seed: JBSWY3DPEHPK3PXP`
    await guest.go(await makePush(guest, { payload, encrypt: true, step: false }))
    await guest.page.getByRole('button', { name: say('step_open'), exact: true }).click()
    await guest.page.locator('#login-code').waitFor()
  },
  'step-encrypted': async (guest) => {
    await guest.go((await makePush(guest, { payload: 'text', encrypt: true })).slice(0, -1))
    await guest.page.getByText(say('step_encrypted_cut')).waitFor()
  },
  'reveal-encrypted': async (guest) => {
    const link = await makePush(guest, { payload: 'text', encrypt: true })
    const other = await makePush(guest, { payload: 'text', encrypt: true })
    await guest.go(link.replace(/#.*/, new URL(other).hash))
    await guest.page.getByRole('button', { name: say('step_open'), exact: true }).click()
    await guest.page.getByText(say('reveal_unreadable')).waitFor()
  },
  'requests-empty': async (guest) => {
    await signedIn(guest, 'new')
    await guest.go('/requests')
  },
  requests: async (guest) => {
    await signedIn(guest, 'busy')
    for (const text of [long, 'brief']) await askFor(guest, { text, encrypt: text === long })
    await guest.go('/requests')
  },
  ask: async (guest) => {
    await signedIn(guest, 'busy')
    await guest.go('/requests/new')
    await guest.page.getByText(say('create_options')).click()
  },
  'ask-problems': async (guest) => {
    guest.foresee(422)
    await signedIn(guest, 'busy')
    await guest.go('/requests/new')
    await guest.page.locator('#ask').evaluate((form) => { form.noValidate = true })
    await guest.page.getByLabel(say('ask_answers')).fill('1000')
    await guest.press(say('create_submit'))
    await guest.page.getByRole('alert').waitFor()
  },
  request: async (guest) => {
    await signedIn(guest, 'busy')
    const { link, own } = await askFor(guest, { text: `two\n\nparagraphs ${long}`, answers: 2, encrypt: true })
    await answer(guest, link, { text: 'x' })
    await sent(guest)
    await guest.go(own)
    await guest.page.getByRole('button', { name: say('step_open') }).waitFor()
    await guest.page.locator('#drawn summary').click()
    await guest.page.getByText(say('request_end'), { exact: true }).click()
  },
  'request-keyless': async (guest) => {
    await signedIn(guest, 'busy')
    const { own } = await askFor(guest, { encrypt: true })
    await guest.go('/')
    await guest.go(own.replace(/#.*/, ''))
    await guest.page.getByText(say('request_keyless')).waitFor()
  },
  answer: async (guest) => {
    await signedIn(guest, 'busy')
    const { link } = await askFor(guest, { text: `two\n\nparagraphs ${long}` })
    await guest.go(link)
    await guest.page.locator('#files').setInputFiles({ name: `${long}.txt`, mimeType: 'text/plain', buffer: Buffer.from('x') })
  },
  'answer-problems': async (guest) => {
    guest.foresee(422)
    await signedIn(guest, 'busy')
    await answer(guest, (await askFor(guest, {})).link, { text: ' ' })
    await guest.page.getByRole('alert').waitFor()
  },
  'answer-sent': async (guest) => {
    await guest.go('/q/sent')
  },
  api: async (guest) => {
    await guest.go('/help/api')
    for (const part of await guest.page.locator('.endpoint > summary').all()) await part.click()
  },
  'admin-accounts': async (guest) => {
    const account = await scene.administrator()
    await scene.pushbox.govern(account, 'finance')
    await arriveSignedIn(guest, account)
    await guest.go('/admin/accounts')
  },
  'admin-overview': async (guest) => {
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin')
  },
  'admin-account': async (guest) => {
    guest.foresee(422)
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/accounts/1')
    await guest.page.locator('#do-remove summary').click()
    await guest.page.locator('#email').fill('another account')
    await guest.page.locator('#do-remove button').click()
    await guest.page.getByRole('alert').waitFor()
    await guest.page.locator('#do-disable summary').click()
  },
  'admin-link': async (guest) => {
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/invite')
    await guest.page.locator('#email').fill(`${spoken}-${long.slice(0, 57)}@example.com`)
    await guest.press(say('invite_go'))
    await guest.wholePage({ name: say('link_made_title') })
  },
  'new-password': async (guest) => {
    guest.foresee(422)
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/accounts/1')
    await guest.page.locator('#do-password button').click()
    await guest.wholePage({ name: say('link_made_title') })
    await guest.go(new URL(await guest.page.locator('#link').inputValue()).pathname)
    await guest.page.locator('#new').fill('another horse battery')
    await guest.page.locator('#again').fill('and yet another one')
    await guest.press(say('password_go'))
    await guest.page.getByRole('alert').waitFor()
  },
  'admin-activity': async (guest) => {
    const account = await scene.administrator()
    await arriveSignedIn(guest, account)
    await scene.pushbox.create({ payload: 'text' })
    await guest.go('/admin/activity')
    await guest.page.locator('main summary').click()
  },
  'admin-health': async (guest) => {
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/health')
    for (const part of await guest.page.locator('main summary').all()) await part.click()
  },
  'admin-settings': async (guest) => {
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/settings')
    await guest.page.locator('main summary').click()
  },
  'admin-log': async (guest) => {
    await arriveSignedIn(guest, await scene.administrator())
    await guest.go('/admin/log?account=1')
  },
  languages: async (guest) => {
    await guest.go('/')
    await guest.page.locator('.language summary').click()
  },
}

for (const tag of pictured ?? ['en'])
  for (const [name, go] of Object.entries(pages)) {
    test(pictured ? `a picture of the page ${name} in ${tag}` : `the page ${name} is accessible`, async (t) => {
      speak(tag)
      const guest = await scene.guest(t)
      await go(guest)
      await look(guest, name)
    })
  }

import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { arriveSignedIn, sendPush } from './lib/acts.js'
import { look } from './lib/look.js'
import { Post } from './lib/post.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const post = await Post.open()
after(() => post.close())

const scene = setScene({
  PUSHBOX_ENABLE_SIGNUPS: 'true',
  PUSHBOX_BASE_URL: 'https://pushbox.test',
  PUSHBOX_MAIL_HOST: '127.0.0.1',
  PUSHBOX_MAIL_PORT: String(post.port),
  PUSHBOX_MAIL_TLS: 'none',
  PUSHBOX_MAIL_FROM: 'pushbox@example.com',
})

const password = 'correct horse battery'

// signUp makes an account on the pages, and signs it in.
async function signUp(guest, email) {
  await guest.go('/users/sign_up')
  await guest.page.getByLabel(say('sign_up_email'), { exact: true }).fill(email)
  await guest.page.getByLabel(say('sign_up_password'), { exact: true }).fill(password)
  await guest.press(say('sign_up_make'))
  await guest.page.getByText(say('notice_signed_up')).waitFor()
  await arriveSignedIn(guest, { email, password })
}

// codeFor waits for the mail to an address, and returns the code in it.
async function codeFor(email) {
  const mail = await post.mails.first(`a mail to ${email}`, ({ to }) => to === email)
  return /^\d{8}$/m.exec(mail.text)[0]
}

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`a newcomer confirms the address with a code, and sends a link by mail${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const email = `newcomer-${script}@example.com`
    await signUp(guest, email)
    await guest.go('/')
    assert.equal(await guest.page.locator('[name="push[notify_emails_to]"]').count(), 0)
    await guest.page.getByText(say('create_options')).click()
    await guest.page.getByText(say('create_mail_unconfirmed')).getByRole('link').click()
    await guest.wholePage({ level: 1, name: say('address_title') })
    if (script) await look(guest, 'address-unconfirmed')
    await guest.press(say('address_send'))
    const code = await codeFor(email)
    const field = guest.page.getByLabel(say('address_code'), { exact: true })
    if (script) await look(guest, 'address-code')
    await field.fill(code === '00000000' ? '00000001' : '00000000')
    guest.foresee(403)
    await guest.press(say('address_confirm'))
    await guest.page.getByRole('alert').getByText(say('address_code_wrong')).waitFor()
    await field.fill(`${code.slice(0, 4)} ${code.slice(4)}`)
    await guest.press(say('address_confirm'))
    await guest.page.getByRole('status').getByText(say('notice_confirmed')).waitFor()
    if (script) await look(guest, 'address-confirmed')
    await guest.go('/')
    await guest.page.locator('[name="push[payload]"]').fill('a secret')
    await guest.page.getByText(say('create_options')).click()
    await guest.page.getByLabel(say('create_mail_to'), { exact: true }).fill(`friend-${script}@example.net`)
    await sendPush(guest)
    const mail = await post.mails.first('the mail with the link', ({ to }) => to === `friend-${script}@example.net`)
    assert.ok(mail.text.includes(email) && mail.text.includes('https://pushbox.test/p/'), mail.text)
  })
}

import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { arriveSignedIn, makePush, opened, signIn } from './lib/acts.js'
import { look } from './lib/look.js'
import { Post } from './lib/post.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const post = await Post.open()
after(() => post.close())

const scene = setScene({
  PUSHBOX_BASE_URL: 'https://pushbox.test',
  PUSHBOX_MAIL_HOST: '127.0.0.1',
  PUSHBOX_MAIL_PORT: String(post.port),
  PUSHBOX_MAIL_TLS: 'none',
  PUSHBOX_MAIL_FROM: 'pushbox@example.com',
})

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`an account shows its name to recipients, and has mail about its secrets${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    await guest.go('/users/account')
    guest.foresee(422)
    await guest.page.getByLabel(say('own_account_name'), { exact: true }).fill('bank.example')
    await guest.press(say('edit_save'))
    await guest.page.getByRole('alert').getByText(say('own_account_name_wrong', { max: 64 })).waitFor()
    if (script) await look(guest, 'account-name-wrong')
    await guest.page.getByLabel(say('own_account_name'), { exact: true }).fill('Ann Lee')
    await guest.page.getByLabel(say('own_account_mail_view')).check()
    await guest.press(say('edit_save'))
    await guest.page.getByText(say('notice_edited')).waitFor()
    assert.equal(await guest.page.getByLabel(say('own_account_mail_view')).isChecked(), true)

    const link = await makePush(guest, { kind: 'text', payload: 'a secret', name: `for Bob${how}` })
    const recipient = await scene.guest(t, { script })
    await recipient.go(new URL(link).pathname)
    const from = recipient.page.locator('.from')
    assert.equal((await from.textContent()).trim(), `${say('step_from')} Ann Lee (${account.email})`)
    if (script) await look(recipient, 'step-from')
    await recipient.press(say('step_open'))
    await opened(recipient)
    const mail = await post.mails.first('the mail about the view', ({ to }) => to === account.email)
    assert.match(mail.text, new RegExp(`for Bob${how}`))
    assert.doesNotMatch(mail.text, /a secret\b(?! was)|\/p\/[a-z2-7]{34}/)
  })
}

test('the language of an account holds in each browser where none was chosen', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  await guest.go('/users/account')
  await guest.page.getByLabel(say('own_account_language'), { exact: true }).selectOption('de')
  await guest.press(say('edit_save'))
  await guest.page.locator('html[lang="de"]').waitFor()
  const other = await scene.guest(t)
  await signIn(other, account)
  await other.page.locator('html[lang="de"]').waitFor()
  await other.go('/?lang=fr')
  await other.page.locator('html[lang="fr"]').waitFor()
  await other.go('/p')
  await other.page.locator('html[lang="fr"]').waitFor()
})

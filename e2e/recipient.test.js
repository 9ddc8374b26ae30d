// A push for a named recipient opens with a code from that mailbox, and shows nothing to others.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { arriveNew, arriveSignedIn, fillPush, madeLink, opened, sendPush, tokenOf } from './lib/acts.js'
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

// codeFor waits for the mail to an address, and returns the code in it.
async function codeFor(email) {
  const mail = await post.mails.first(`a mail to ${email}`, ({ to }) => to === email)
  assert.doesNotMatch(mail.text, /https:\/\//)
  return /^\d{6}$/m.exec(mail.text)[0]
}

const wrongFor = (code) => (code === '000000' ? '000001' : '000000')

// pathOf returns the path of a link, with its key: links have the address of the setting, without the port of the front.
const pathOf = (link) => new URL(link).pathname + new URL(link).hash

// ask asks for a code on the page of a push.
async function ask(guest, email) {
  await guest.page.getByLabel(say('step_email'), { exact: true }).fill(email)
  await guest.press(say('step_code_send'))
  await guest.page.getByLabel(say('step_code'), { exact: true }).waitFor()
}

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`a sender names the recipient, who opens the secret with a mailed code${how}`, async (t) => {
    const { guest: sender, account } = await arriveNew(scene, t, { script })
    const email = `bob-${script}@example.net`
    await sender.go('/')
    await fillPush(sender, { payload: 'for bob alone', passphrase: 'open sesame 5781', views: 1, name: 'keys' })
    const field = sender.page.getByLabel(say('create_recipient'), { exact: true })
    await field.fill('bob@example.net, carol@example.net')
    if (script) await look(sender, 'recipient-form')
    sender.foresee(422)
    await sendPush(sender)
    await sender.page.locator('#recipient-error').waitFor()
    await field.fill(email)
    await sender.page.locator('#passphrase').fill('open sesame 5781')
    await sendPush(sender)
    const link = await madeLink(sender)
    await sender.page.getByText(say('set_recipient', { email })).waitFor()

    const bob = await scene.guest(t, { script })
    await bob.go(pathOf(link))
    await bob.page.getByText(say('step_email_hint')).waitFor()
    assert.equal(await bob.page.locator('#passphrase').count(), 0)
    if (script) await look(bob, 'recipient-address')
    await ask(bob, email)
    const code = await codeFor(email)
    if (script) await look(bob, 'recipient-code')
    bob.foresee(403, 403)
    await bob.page.locator('#code').fill(wrongFor(code))
    await bob.page.locator('#passphrase').fill('open sesame 5781')
    await bob.press(say('step_open'))
    await bob.page.getByRole('alert').getByText(say('step_code_wrong', { tries: 4 })).waitFor()
    if (script) await look(bob, 'recipient-code-wrong')
    await bob.page.locator('#code').fill(`${code.slice(0, 3)} ${code.slice(3)}`)
    await bob.page.locator('#passphrase').fill('wrong')
    await bob.press(say('step_open'))
    await bob.page.locator('#passphrase-error').waitFor()
    await bob.page.locator('#passphrase').fill('open sesame 5781') // the code is still there
    await bob.press(say('step_open'))
    await opened(bob)
    assert.ok((await bob.text()).includes('for bob alone') || !script)

    await sender.go(`/p/${tokenOf(link)}/audit`)
    await sender.page.getByText(email).first().waitFor()
    if (script) await look(sender, 'recipient-log')
    assert.deepEqual((await scene.pushbox.audit({ url_token: tokenOf(link) }, account)).kinds.filter((kind) => kind === 'view'), ['view'])
  })
}

test('the page answers another address in the same words, and no mail goes there', async (t) => {
  const { guest: sender } = await arriveNew(scene, t)
  await sender.go('/')
  await fillPush(sender, { payload: 'for a domain', name: 'x' })
  await sender.page.getByLabel(say('create_recipient'), { exact: true }).fill('@example.com')
  await sendPush(sender)
  const link = await madeLink(sender)
  const words = []
  for (const email of ['eve@example.org', 'ann@example.com']) {
    const guest = await scene.guest(t)
    await guest.go(pathOf(link))
    await ask(guest, email)
    words.push((await guest.text()).replace(email, ''))
  }
  assert.equal(words[0], words[1])
  await codeFor('ann@example.com')
  assert.ok(!post.mails.entries.some(({ to }) => to === 'eve@example.org'))
})

test('a secret that is encrypted end to end keeps its key over the pages of the code', async (t) => {
  const { guest: sender } = await arriveNew(scene, t)
  const email = 'carol@example.net'
  await sender.go('/')
  await fillPush(sender, { payload: 'encrypted for carol', encrypt: true, passphrase: 'open sesame 5781', name: 'x' })
  await sender.page.getByLabel(say('create_recipient'), { exact: true }).fill(email)
  await sendPush(sender)
  const link = await madeLink(sender)
  const carol = await scene.guest(t)
  await carol.go(pathOf(link))
  await ask(carol, email)
  const code = await codeFor(email)
  carol.foresee(403, 403)
  for (const [typed, passphrase] of [[wrongFor(code), 'open sesame 5781'], [code, 'wrong'], [code, 'open sesame 5781']]) {
    await carol.page.locator('#code').fill(typed)
    await carol.page.locator('#passphrase').fill(passphrase)
    await carol.press(say('step_open'))
  }
  await opened(carol)
  await carol.page.getByText('encrypted for carol').waitFor({ state: 'attached' })
  assert.equal(new URL(carol.page.url()).hash, new URL(link).hash)
  scene.unheard(new URL(link).hash.slice(1))
  await carol.page.reload() // within the reload window, the same view
  await carol.press(say('step_open'))
  await carol.page.getByText('encrypted for carol').waitFor({ state: 'attached' })
})

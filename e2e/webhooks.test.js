import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, test } from 'node:test'

import { arriveSignedIn, makePush } from './lib/acts.js'
import { Journal } from './lib/journal.js'
import { look } from './lib/look.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

// A receiver takes every message, and keeps what it says.
const messages = new Journal()
const receiver = createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts).toString()
  const said = request.headers['content-type'] === 'application/json' ? JSON.parse(body) : { body, title: request.headers.title }
  messages.add({ ...said, signature: request.headers['webhook-signature'] })
  response.writeHead(204).end()
})
await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve))
after(() => receiver.close())
const address = `http://127.0.0.1:${receiver.address().port}/path-marker`

const scene = setScene({ PUSHBOX_WEBHOOKS_ALLOW: '127.0.0.1/32' })

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`an account adds, tests and removes a webhook${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const { page } = guest
    const account = await scene.account()
    await arriveSignedIn(guest, account)
    await guest.go('/users/webhooks')
    await page.getByText(say('hooks_none')).waitFor()
    const add = async (url) => {
      await page.getByLabel(say('hooks_url'), { exact: true }).fill(url)
      await page.getByLabel(say('mfa_password'), { exact: true }).fill(account.password)
      await guest.press(say('hooks_add'))
    }
    guest.foresee(422)
    await add('http://127.0.0.2/')
    await page.getByText(say('hooks_url_wrong')).waitFor()
    if (script) await look(guest, 'webhooks-wrong')
    await add(address)
    await guest.wholePage({ level: 1, name: say('hook_made_title') })
    assert.match(await page.locator('#token').textContent(), /^whsec_/)
    if (script) await look(guest, 'webhook-made')

    await guest.go('/users/webhooks')
    await guest.press(say('hooks_test'))
    await page.getByText(say('notice_hook_tested')).waitFor()
    const sent = await messages.first('the test', ({ event }) => event === 'test')
    assert.match(sent.signature, /^v1,/)
    await page.getByText(say('hooks_tried')).click()
    await page.getByText(say('hooks_answer', { status: 204 })).waitFor()
    if (script) await look(guest, 'webhooks-tried')

    const link = await makePush(guest, { kind: 'text', payload: 'a secret', name: `pushed${how}` })
    const recipient = await scene.guest(t, { script })
    await recipient.go(new URL(link).pathname)
    await recipient.press(say('step_open'))
    await messages.first('the view', ({ event, name }) => event === 'view' && name === `pushed${how}`)

    await guest.go('/users/webhooks')
    await page.locator('.pop summary').click()
    await guest.press(say('hooks_remove_sure'))
    await page.getByText(say('notice_hook_removed')).waitFor()
    await page.getByText(say('hooks_none')).waitFor()
  })
}

test('a chat gets a sentence in the language of the account', async (t) => {
  const guest = await scene.guest(t)
  const { page } = guest
  const account = await scene.account()
  await arriveSignedIn(guest, account)
  await guest.go('/users/account')
  await page.locator('#language').selectOption('de')
  await page.locator('form:has(#language) button').first().click()
  await page.locator('html[lang=de]').waitFor()
  await guest.go('/users/webhooks')
  await page.locator('#url').fill(address)
  await page.locator('#form').selectOption('ntfy')
  await page.locator('#password').fill(account.password)
  await look(guest, 'webhooks-chat')
  await page.locator('form:has(#url) button').click()
  await page.locator('#token').waitFor()
  const push = await scene.pushbox.create({ payload: 'a secret', name: 'Tür' }, account)
  const recipient = await scene.guest(t)
  await recipient.go(new URL(push.html_url).pathname)
  await recipient.press(say('step_open'))
  const { body, title, signature } = await messages.first('the sentence', ({ body }) => body?.includes('Tür'))
  assert.match(body, /^Das Geheimnis „Tür“ wurde am .* UTC geöffnet: Aufruf 1 von \d+\.$/)
  assert.equal(title, 'pushbox')
  assert.match(signature, /^v1,/)
})

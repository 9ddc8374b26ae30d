import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn, fillPush, madeLink, opened, sendPush, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_POLICY_KINDS: 'text,url',
  PUSHBOX_POLICY_REQUIRE_PASSPHRASE: 'true',
  PUSHBOX_POLICY_EXPIRE_AFTER_DAYS_MAX: '3',
  PUSHBOX_POLICY_EXPIRE_AFTER_VIEWS_MAX: '4',
  PUSHBOX_POLICIES: '[{name: sealed, kinds: [text, file], require_passphrase: false, require_encryption: true, max_file_uploads: 1}]',
})

const kindsOf = (page) => page.locator('input[name="push[kind]"]').evaluateAll((all) => all.map((one) => one.value))

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`the form asks for a passphrase before it is sent${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const { page } = guest
    await guest.go('/')
    assert.deepEqual(await kindsOf(page), ['text', 'login', 'url'])
    assert.equal(await page.locator('#views').getAttribute('max'), '4')
    const passphrase = page.getByLabel(say('create_passphrase_required'), { exact: true })
    assert.ok(await passphrase.isVisible())
    await page.locator('#payload').fill('text')
    await sendPush(guest)
    assert.ok(await passphrase.evaluate((input) => input.validity.valueMissing && input === document.activeElement))
    await passphrase.fill('correct horse')
    await sendPush(guest)
    await madeLink(guest)
  })

  test(`an administrator gives an account a policy${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    await arriveSignedIn(guest, await scene.administrator())
    const { page } = guest
    await guest.go('/admin/accounts')
    await page.getByRole('link', { name: account.email, exact: true }).click()
    await page.getByLabel(say('account_policy'), { exact: true }).selectOption('sealed')
    await guest.press(say('account_verb_policy'))
    await page.getByText(say('notice_account_policy'), { exact: true }).waitFor()
    await page.locator('dd').getByText('sealed', { exact: true }).waitFor()
  })
}

test('the form always encrypts where the policy of the account says so', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  await scene.pushbox.govern(account, 'sealed')
  await arriveSignedIn(guest, account)
  const { page } = guest
  await guest.go('/')
  assert.deepEqual(await kindsOf(page), ['text', 'login', 'file'])
  await page.getByText(say('create_policy', { name: 'sealed' })).waitFor()
  await page.getByText(say('create_options')).click()
  assert.ok((await page.locator('#encrypt').isChecked()) && (await page.locator('#encrypt').isDisabled()))
  await fillPush(guest, { payload: 'for your eyes only' })
  await sendPush(guest)
  const link = await madeLink(guest)
  assert.match(link, /#/)
  scene.unheard('for your eyes only')
  const recipient = await scene.guest(t)
  await recipient.go(link)
  await recipient.press(say('step_open'))
  await opened(recipient)
  assert.equal(await unveil(recipient), 'for your eyes only')
})

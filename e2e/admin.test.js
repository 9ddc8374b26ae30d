import assert from 'node:assert/strict'
import { test } from 'node:test'

import { arriveSignedIn } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({})

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`an administrator finds, disables and removes an account${how}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const account = await scene.account()
    await arriveSignedIn(guest, await scene.administrator())
    const { page } = guest
    await page.locator('summary', { hasText: say('frame_account') }).click()
    await page.getByRole('link', { name: say('frame_admin'), exact: true }).click()
    await page.getByLabel(say('account_search'), { exact: true }).fill(account.email.toUpperCase())
    await guest.press(say('list_search'))
    await page.getByRole('link', { name: account.email, exact: true }).click()
    await page.locator('#do-disable summary').click()
    await page.locator('#do-disable button').click()
    await page.getByText(say('notice_account_disable'), { exact: true }).waitFor()

    await guest.go('/admin/log')
    assert.match(await page.locator('tbody tr').first().innerText(), new RegExp(`${say('log_account_disable')}[^]*${account.email}`))
    await page.locator('tbody tr').first().getByRole('link', { name: account.email }).click()

    await page.getByLabel(say('account_typed'), { exact: true }).fill(account.email)
    await page.locator('#do-remove button').click()
    await page.getByText(say('notice_account_remove'), { exact: true }).waitFor()
    assert.equal(await page.getByText(account.email, { exact: true }).count(), 0)
  })
}

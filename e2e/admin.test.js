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
    await page.getByRole('heading', { name: say('admin_overview'), exact: true }).waitFor()
    await page.getByRole('link', { name: say('admin_accounts'), exact: true }).click()
    await page.getByLabel(say('account_search'), { exact: true }).fill(account.email.toUpperCase())
    await guest.press(say('list_search'))
    await page.getByRole('link', { name: account.email, exact: true }).click()
    await page.locator('#do-disable summary').click()
    await page.locator('#do-disable button').click()
    await page.getByText(say('notice_account_disable'), { exact: true }).waitFor()

    await guest.go('/admin/log')
    assert.match(await page.locator('tbody tr').first().innerText(), new RegExp(`${say('log_account_disable')}[^]*${account.email}`))
    await page.locator('tbody tr').first().getByRole('link', { name: account.email }).click()

    await page.locator('#do-remove summary').click()
    await page.getByLabel(say('account_typed'), { exact: true }).fill(account.email)
    await page.locator('#do-remove button').click()
    await page.getByText(say('notice_account_remove'), { exact: true }).waitFor()
    assert.equal(await page.getByText(account.email, { exact: true }).count(), 0)
  })
}

test('rows of the log are low, and no address breaks', async (t) => {
  const guest = await scene.guest(t)
  await scene.pushbox.account('a.person.with-a-long-name@department.organisation.example.com')
  await arriveSignedIn(guest, await scene.administrator())
  const { page } = guest
  for (const width of [375, 768, 1366, 1920]) {
    await page.setViewportSize({ width, height: 768 })
    for (const path of ['/admin', '/admin/log', '/admin/accounts']) {
      await guest.go(path)
      await page.locator('tbody tr').first().waitFor()
      const rows = await page.locator('tbody tr').evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
      const most = path.endsWith('accounts') ? 72 : 64 // an account may have badges
      if (width >= 1366) assert.ok(Math.max(...rows) <= most, `${path} at ${width}: ${Math.max(...rows)} px`)
      const lines = await page.locator('tbody .address').evaluateAll((all) => all.map((part) => part.getBoundingClientRect().height / parseFloat(getComputedStyle(part).lineHeight)))
      assert.ok(Math.max(...lines) < 1.5, `${path} at ${width}: an address of ${Math.max(...lines)} lines`)
    }
  }
})

test('the log is filtered by account and by day', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.account()
  await arriveSignedIn(guest, await scene.administrator())
  const { page } = guest
  await guest.go('/admin/log')
  await page.getByLabel(say('log_whom'), { exact: true }).fill(account.email)
  await page.getByLabel(say('log_day'), { exact: true }).fill(new Date().toISOString().slice(0, 10))
  await guest.press(say('list_filter_go'))
  const shown = await page.locator('tbody tr').allInnerTexts()
  assert.ok(shown.length > 0 && shown.every((row) => row.includes(account.email)))
  await page.getByLabel(say('log_day'), { exact: true }).fill('2001-02-03')
  await guest.press(say('list_filter_go'))
  await page.getByRole('heading', { name: say('log_none') }).waitFor()
})

test('on a phone the page that is open is in sight among those of the administration', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.administrator())
  await guest.page.setViewportSize({ width: 375, height: 667 })
  await guest.go('/admin/settings')
  const { x, width } = await guest.page.locator('.side [aria-current]').boundingBox()
  assert.ok(x >= 0 && x + width <= 375)
})

test('names of variables break only after a sign, and charts have a scale that is read out', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.administrator())
  await guest.go('/admin/settings')
  for (const width of [320, 375, 1366]) {
    await guest.page.setViewportSize({ width, height: 768 })
    const ends = await guest.page.locator('.conf tbody th code, .conf td:nth-child(3) code').evaluateAll((all) => all.flatMap((code) => {
      const text = [...code.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
      return text.filter((node) => {
        const range = document.createRange()
        range.selectNodeContents(node)
        return range.getClientRects().length > 1
      }).map((node) => node.data)
    }))
    assert.deepEqual(ends, [], `at ${width}`)
  }
  await guest.go('/admin/activity')
  const charts = guest.page.getByRole('img')
  assert.equal(await charts.count(), 4)
  for (const chart of await charts.all()) assert.match(await chart.locator('title').first().textContent(), /from 20\d\d-\d\d-\d\d to 20\d\d-\d\d-\d\d: \d+ in total, at most \d+ a day/)
  assert.equal(await guest.page.locator('.scale').first().isVisible(), true)
})

test('who has a link for a password types it at once', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.administrator())
  await guest.go('/admin/invite')
  await guest.page.locator('#email').fill('invited@example.com')
  await guest.press(say('invite_go'))
  await guest.wholePage({ name: say('link_made_title') })
  await guest.go(new URL(await guest.page.locator('#link').inputValue()).pathname)
  await guest.page.waitForFunction(() => document.activeElement.id === 'new')
})

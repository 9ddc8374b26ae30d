import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { arriveSignedIn } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_LIMITS_TOKEN_PER_MINUTE: '0' })

// arrive returns a guest who is signed in to a new account.
async function arrive(t, options) {
  const account = await scene.account()
  const guest = await scene.guest(t, options)
  await arriveSignedIn(guest, account)
  return { account, guest, push: (fields) => scene.pushbox.create({ payload: 'x', ...fields }, account) }
}

const rows = (guest) => guest.page.locator('tbody tr')
const names = async (guest) => rows(guest).locator('th a').allInnerTexts()

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`own pushes are listed, and one is deleted${how}`, async (t) => {
    const { guest, push } = await arrive(t, { script })
    for (const name of ['first', 'second', 'third']) await push({ name })
    await guest.go('/p')
    assert.deepEqual(await names(guest), ['third', 'second', 'first'])
    const row = guest.page.getByRole('row', { name: /second/ })
    await row.locator('summary').click()
    await row.getByRole('button', { name: say('list_expire_now') }).click()
    await guest.page.getByRole('status').getByText(say('notice_deleted', { name: 'second' })).waitFor()
    assert.deepEqual(await names(guest), ['third', 'first'])
    await guest.page.getByRole('link', { name: `${say('list_tab_expired')} 1`, exact: true }).click()
    await guest.page.getByText(say('list_state_deleted')).waitFor()
    assert.deepEqual(await names(guest), ['second'])
  })

  test(`several own pushes are deleted at once${how}`, async (t) => {
    const { guest, push } = await arrive(t, { script })
    for (const name of ['first', 'second', 'third']) await push({ name })
    await guest.go('/p')
    for (const name of ['first', 'third']) await guest.page.getByRole('checkbox', { name: say('list_choose', { name }) }).check()
    await guest.page.getByText(say('list_delete_chosen'), { exact: true }).click()
    await guest.press(say('list_delete_chosen_now'))
    await guest.page.getByRole('status').getByText(say('notice_deleted_several', { count: 2 })).waitFor()
    assert.deepEqual(await names(guest), ['second'])
  })

  test(`own pushes are searched by name and note${how}`, async (t) => {
    const { guest, push } = await arrive(t, { script })
    for (const [name, note] of [
      ['Übergabe Köln', ''],
      ['router', 'for the Cologne office'],
      ['other', ''],
    ])
      await push({ name, note })
    for (const [query, want] of [
      ['köln', ['Übergabe Köln']],
      ['OFFICE', ['router']],
      ['nothing like it', []],
    ]) {
      await guest.go('/p')
      await guest.page.getByRole('searchbox').fill(query)
      await guest.press(say('list_search'))
      await guest.page.waitForURL(/q=/)
      assert.deepEqual(await names(guest), want, query)
    }
    await guest.wholePage({ name: say('list_empty_search') })
  })

  test(`the limits of a live push are changed, and wrong ones are reported${how}`, async (t) => {
    const { guest, account, push } = await arrive(t, { script })
    const pushed = await push({ expire_after_days: 7, expire_after_views: 5 })
    await guest.go(`/p/${pushed.url_token}/audit`)
    assert.equal(await guest.page.locator('#days').isVisible(), false)
    await guest.page.getByText(say('audit_edit'), { exact: true }).click()
    await guest.page.getByLabel(say('edit_days'), { exact: true }).fill('30')
    await guest.page.getByLabel(say('edit_views'), { exact: true }).fill('9')
    await guest.press(say('edit_save'))
    await guest.page.getByText(say('audit_kind_edit')).waitFor()
    const { kinds } = await scene.pushbox.audit(pushed, account)
    assert.deepEqual(kinds, ['creation', 'edit'])
    const [{ expire_after_days, expire_after_views }] = await scene.pushbox.active(account)
    assert.deepEqual([expire_after_days, expire_after_views], [30, 9])
    guest.foresee(422)
    await guest.page.getByText(say('audit_edit'), { exact: true }).click()
    await guest.page.getByLabel(say('edit_days'), { exact: true }).fill('1000')
    await guest.press(say('edit_save'))
    await guest.page
      .getByRole('alert')
      .getByText(say('edit_days_wrong', { min: 1, max: 90 }))
      .waitFor()
    assert.equal(await guest.page.getByLabel(say('edit_days'), { exact: true }).inputValue(), '1000')
  })
}

test('what opens over the list moves nothing, and closes when it is left', async (t) => {
  const { guest, push } = await arrive(t)
  for (const name of ['first', 'second']) await push({ name })
  await guest.go('/p')
  const heights = () => rows(guest).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  const before = await heights()
  const pop = guest.page.locator('tbody .pop').first()
  const open = () => pop.evaluate((details) => details.open)
  await pop.locator('summary').click()
  assert.deepEqual([await open(), await heights()], [true, before])
  await guest.page.keyboard.press('Tab')
  assert.equal(await open(), true)
  await guest.page.keyboard.press('Tab')
  assert.equal(await open(), false)
  await guest.page.getByText(say('frame_account'), { exact: true }).click()
  const menu = guest.page.locator('nav .menu')
  const leaves = 1 + (await menu.locator('a, button').count())
  for (let i = 0; i < leaves; i++) await guest.page.keyboard.press('Tab')
  assert.equal(await menu.evaluate((details) => details.open), false)
})

test('all pushes of a page are chosen with one box', async (t) => {
  const { guest, push } = await arrive(t)
  for (const name of ['first', 'second']) await push({ name })
  await guest.go('/p')
  await guest.page.getByLabel(say('list_choose_all')).check()
  assert.equal(await guest.page.locator('tbody input:checked').count(), 2)
})

test('lists and logs have pages', async (t) => {
  const { guest, account, push } = await arrive(t)
  const pushes = []
  for (let i = 0; i < 51; i++) pushes.push(await push({ name: `push ${i}` }))
  await guest.go('/p')
  assert.equal(await rows(guest).count(), 50)
  await guest.page.getByRole('link', { name: say('list_next'), exact: true }).click()
  await guest.page.getByText(say('list_page', { page: 2 })).waitFor()
  assert.deepEqual(await names(guest), ['push 0'])
  await guest.page.getByRole('link', { name: say('list_previous'), exact: true }).click()
  await guest.page.getByText(say('list_page', { page: 1 })).waitFor()
  for (let i = 0; i < 51; i++) await fetch(pushes[0].json_url, { headers: { Authorization: `Bearer ${account.token}` } })
  await guest.go(`/p/${pushes[0].url_token}/audit`)
  assert.equal(await rows(guest).count(), 50)
  await guest.page.getByRole('link', { name: say('list_next'), exact: true }).click()
  await guest.page.getByText(say('list_page', { page: 2 })).waitFor()
  assert.equal(await rows(guest).count(), 2)
})

test('the log says who opened a push, when and from where, and can be downloaded as CSV', async (t) => {
  const { guest, account, push } = await arrive(t, { zone: 'Asia/Tokyo' })
  const pushed = await push({ name: 'a name', retrieval_step: false, passphrase: 'open sesame' })
  const agent = '=cmd|"/c calc"!A1, with\n"quotes"'.replace('\n', ' ')
  const ask = async (passphrase) =>
    fetch(pushed.json_url, {
      headers: {
        'User-Agent': agent,
        Referer: 'https://example.com/from',
        'X-Forwarded-For': '192.0.2.7',
        'X-Push-Passphrase': passphrase,
      },
    })
  assert.deepEqual([(await ask('wrong')).status, (await ask('open sesame')).status], [401, 200])
  await guest.go(`/p/${pushed.url_token}/audit`)
  const lines = await rows(guest).allInnerTexts()
  assert.equal(lines.length, 3)
  for (const part of [say('audit_kind_view'), agent, 'https://example.com/from', '192.0.2.7'])
    assert.ok(
      lines.some((line) => line.includes(part)),
      part,
    )
  const { logs } = await scene.pushbox.audit(pushed, account)
  const time = rows(guest).first().locator('time')
  const shown = new Intl.DateTimeFormat('en', {
    ...{ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZone: 'Asia/Tokyo' },
  })
  const all = logs.map((entry) => shown.format(new Date(entry.created_at)).replaceAll('\u202f', ' '))
  assert.ok(all.includes((await time.textContent()).replaceAll('\u202f', ' ')), await time.textContent())
  const download = await guest.download(() => guest.page.getByRole('link', { name: say('audit_csv') }).click())
  const { state, filePath } = await download.end()
  assert.equal(state, 'completed')
  const csv = await readFile(filePath, 'utf8')
  assert.equal(csv.trim().split('\r\n').length, 4)
  assert.doesNotMatch(csv, /(^|,|")=cmd/m) // a spreadsheet would take it for a formula
  assert.ok(csv.includes('192.0.2.7'))
})

test('only the owner of a push can read its log', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(403, 404)
  const other = await scene.pushbox.create({ payload: 'x', name: 'of another owner' })
  for (const path of ['audit', 'audit.csv']) {
    const response = await guest.go(`/p/${other.url_token}/${path}`)
    assert.ok([403, 404].includes(response.status()), path)
    assert.equal((await response.text()).includes('of another owner'), false)
  }
})

test('an expired push cannot be changed, and its log stays', async (t) => {
  const { guest, account, push } = await arrive(t)
  const pushed = await push({ name: 'gone', expire_after_views: 1 })
  await fetch(pushed.json_url)
  await guest.go(`/p/${pushed.url_token}/audit`)
  await guest.page.getByText(say('list_state_viewed')).waitFor()
  assert.equal(await guest.page.getByRole('button', { name: say('edit_save') }).count(), 0)
  assert.deepEqual((await scene.pushbox.audit(pushed, account)).kinds, ['creation', 'view'])
})

test('names have room on a tablet, and paper has no controls', async (t) => {
  const { guest, push } = await arrive(t)
  const { page } = guest
  const { url_token } = await push({ name: 'for the printer' })
  await guest.go('/p')
  const ofName = async () => page.locator('tbody th a').evaluate((link) => [link.getClientRects().length, link.closest('th').offsetWidth > 160])
  for (const width of [660, 768, 1151, 1152]) {
    await page.setViewportSize({ width, height: 800 })
    assert.deepEqual(await ofName(), [1, true], String(width))
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false)
  }
  await page.setViewportSize({ width: 794, height: 1123 })
  await page.emulateMedia({ media: 'print' })
  assert.deepEqual(await ofName(), [1, true])
  assert.equal(await page.locator(':is(button, summary, input):visible').count(), 0)
  await page.emulateMedia({ media: 'screen' }) // a page that is loaded while printing is not as printed
  await guest.go(`/p/${url_token}/audit`)
  await page.emulateMedia({ media: 'print' })
  assert.equal(await page.locator('#days:visible, :is(button, summary):visible').count(), 0)
  assert.equal(await page.locator('#link').isVisible(), true)
})

test('the facts of a secret stand beside what happened to it', async (t) => {
  const { guest, push } = await arrive(t)
  const { page } = guest
  const pushed = await push({ name: 'for the printer', note: 'on the second floor', expire_after_views: 5 })
  await fetch(pushed.json_url, { headers: { Referer: 'https://mail.example.com/inbox' } })
  await guest.go(`/p/${pushed.url_token}/audit`)
  for (const [width, beside] of [[1366, true], [1280, true], [768, false], [375, false]]) {
    await page.setViewportSize({ width, height: 768 })
    const [facts, activity] = await page.locator('.split > *').evaluateAll((all) => all.map((part) => part.getBoundingClientRect().toJSON()))
    assert.equal(facts.right <= activity.left && facts.top === activity.top, beside, `at ${width}`)
    assert.equal(await page.locator('figure.qr').isVisible(), false)
    if (beside) assert.ok(await page.locator('tbody tr').last().evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight), 'the activity is in sight')
  }
})

const heights = (guest) => rows(guest).evaluateAll((all) => all.map((row) => Math.round(row.getBoundingClientRect().height)))

test('eleven rows fit on a laptop, and none is a wall', async (t) => {
  const { guest, account, push } = await arrive(t)
  await guest.page.setViewportSize({ width: 1366, height: 768 })
  for (let i = 0; i < 9; i++) await push({ name: `push ${i}` })
  await push({ kind: 'url', payload: 'https://example.com/', passphrase: 'x', expire_after_duration: 0 })
  const tried = await push({ name: 'a name so long that no line has room for it '.repeat(5).trim(), passphrase: 'x', expire_after_views: 2 })
  for (const passphrase of ['wrong', 'x']) await fetch(tried.json_url, { headers: { 'X-Push-Passphrase': passphrase } })
  await guest.go('/p')
  assert.ok((await heights(guest)).every((height) => height >= 43 && height <= 60), String(await heights(guest)))
  assert.ok((await rows(guest).nth(10).evaluate((row) => row.getBoundingClientRect().bottom)) <= 768)
  for (const tag of ['fr', 'de', 'ja']) {
    await guest.go(`/p?lang=${tag}`)
    assert.ok((await heights(guest)).every((height) => height <= 60), `${tag}: ${await heights(guest)}`)
  }
  assert.equal((await scene.pushbox.active(account)).length, 11)
})

test('times tell how long ago they were, and their title is the whole of it', async (t) => {
  const { guest, push } = await arrive(t)
  await push({ name: 'new' })
  await guest.go('/p')
  const time = rows(guest).first().locator('time').first()
  assert.match(await time.textContent(), /^(now|\d minutes? ago)$/)
  assert.match(await time.getAttribute('title'), new RegExp(`day.*${new Date().getFullYear()}.*UTC`))
})

test('what is done with chosen rows is there once a row is chosen', async (t) => {
  const { guest, push } = await arrive(t)
  await push({ name: 'one' })
  await guest.go('/p')
  const bar = guest.page.locator('.chosen')
  assert.equal(await bar.isVisible(), false)
  await guest.page.getByRole('checkbox', { name: say('list_choose', { name: 'one' }) }).check()
  assert.equal(await bar.isVisible(), true)
})

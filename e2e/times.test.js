import assert from 'node:assert/strict'
import { test } from 'node:test'

import { fillPush, madeLink, sendPush } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({})

const hour = 3600_000

// local writes a moment as a clock that is so many hours ahead of UTC shows it.
const local = (moment, ahead) => new Date(moment + ahead * hour).toISOString().slice(0, 16)

// Whole minutes from now on. New York may be at summer time.
const [opens, ends] = [1, 30].map((hours) => Math.floor(Date.now() / 60_000) * 60_000 + hours * hour)
const ahead = (zone) => (new Date(new Date(ends).toLocaleString('en-US', { timeZone: zone })) - new Date(new Date(ends).toLocaleString('en-US', { timeZone: 'UTC' }))) / hour

const form = async (t, options) => {
  const guest = await scene.guest(t, options)
  await guest.go('/')
  await guest.page.locator('#more > summary').click()
  return guest
}

const at = async ({ page }, part) => Date.parse(await page.locator(`${part} time`).first().getAttribute('datetime'))

for (const [zone, script] of [['Asia/Tokyo', true], ['America/New_York', true], ['America/New_York', false]])
  test(`exact times are taken in ${script ? zone : 'UTC without scripts'}`, async (t) => {
    const guest = await form(t, { zone, script })
    const { page } = guest
    const fields = page.locator('fieldset', { has: page.locator('#zone') })
    assert.equal(await page.locator('#zone').innerText(), script ? zone : 'UTC')
    const off = script ? ahead(zone) : 0
    await fillPush(guest, { payload: 'x' })
    await fields.getByLabel(say('create_open_from')).fill(local(opens, off))
    await fields.getByLabel(say('create_expires_at')).fill(local(ends, off))
    await fields.getByLabel(say('create_close'), { exact: true }).selectOption('3')
    await sendPush(guest)
    const link = await madeLink(guest)
    assert.equal(await at(guest, '#ends'), ends)
    await guest.go(link)
    assert.equal(await at(guest, '.notice'), opens)
  })

for (const script of [true, false])
  test(`a wrong time is told at its field, and stays as it was typed${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await form(t, { zone: 'Asia/Tokyo', script })
    const { page } = guest
    guest.foresee(422)
    const typed = local(opens - 24 * hour, 9)
    await fillPush(guest, { payload: 'x' })
    await page.locator('#expires_at').fill(typed)
    await page.locator('#close').selectOption('3')
    await sendPush(guest)
    await page.locator('.problems').waitFor()
    const field = page.locator('#expires_at')
    assert.equal(await field.inputValue(), typed)
    assert.equal(await field.getAttribute('aria-describedby'), 'expires_at-error')
    assert.equal(await page.locator('#expires_at-error').isVisible(), true)
    assert.equal(await page.locator('#close').inputValue(), '3')
    if (script) assert.equal(await page.locator('#zone').innerText(), 'Asia/Tokyo')
    await field.fill(local(ends, script ? 9 : 0))
    await sendPush(guest)
    await madeLink(guest)
    assert.equal(await at(guest, '#ends'), ends)
  })

test('the form says what ends the secret, whatever is chosen', async (t) => {
  const guest = await form(t)
  const { page } = guest
  const usual = await page.locator('#gone').innerText()
  const always = say('create_gone')
  assert.notEqual(usual, always)
  const states = async () => [await page.locator('#gone').innerText(), await page.locator('#time').isDisabled(), await page.locator('#days').isDisabled()]
  await page.locator('#close').selectOption('0')
  assert.deepEqual(await states(), [always, false, true])
  await page.locator('#close').selectOption('')
  assert.deepEqual(await states(), [usual, false, true])
  await page.locator('#expires_at').fill(local(ends, 0))
  await page.locator('#expires_at').blur()
  assert.deepEqual(await states(), [always, true, true])
  await page.locator('#expires_at').fill('')
  await page.locator('#expires_at').blur()
  assert.deepEqual(await states(), [usual, false, true])
  await page.locator('#open_from').fill(local(opens, 0))
  assert.deepEqual(await states(), [usual, false, true])
})

test('a remembered time after the first view comes back, and exact times do not', async (t) => {
  const guest = await form(t)
  const { page } = guest
  await page.getByLabel(say('create_remember')).check()
  await page.locator('#close').selectOption('3')
  await page.locator('#expires_at').fill(local(ends, 0))
  await page.locator('#expires_at').blur()
  await guest.go('/')
  assert.deepEqual([await page.locator('#close').inputValue(), await page.locator('#expires_at').inputValue()], ['3', ''])
})

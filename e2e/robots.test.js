// Programs that open links from mail and press what they find. None may use a view of a push whose
// recipients type a number; each opens one that a button opens, which shows that it does press.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'

const scene = setScene({ PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '0' })

const openButton = 'main form button:not([type=button])'

// The browser itself holds back those of held: the field for the number is empty.
const held = {
  'a click by a script': (page) => page.evaluate((at) => document.querySelector(at).click(), openButton),
  'requestSubmit by a script': (page) => page.evaluate(() => document.querySelector('main form').requestSubmit()),
  'a click on an element handle': async (page) => (await page.$(openButton)).evaluate((button) => button.click()),
  'the mouse of the debugger': async (page) => {
    const { x, y, width, height } = await page.locator(openButton).boundingBox()
    await page.mouse.click(x + width / 2, y + height / 2)
  },
  'a press of every button': async (page) => {
    for (const button of await page.locator('button:visible').all()) await button.click()
  },
  'Enter on each focus': async (page) => {
    let pressed = false
    for (let i = 0; i < 20 && !pressed; i++) {
      await page.keyboard.press('Tab')
      const on = await page.evaluate(() => document.activeElement.closest('main form') && document.activeElement.tagName)
      if (on) await page.keyboard.press('Enter')
      pressed = on === 'BUTTON'
    }
  },
}

// The server refuses those of sent.
const sent = {
  'submit by a script, without the checks of the browser': (page) =>
    page.evaluate(() => document.querySelector('main form').submit()),
  'text in every field, and a press': async (page) => {
    for (const field of await page.locator('main form input:visible').all()) await field.fill('12345')
    await page.locator(openButton).click()
  },
  'a press, and a reload of what came': async (page, posted) => {
    await page.evaluate(() => document.querySelector('main form').submit())
    await posted()
    await page.waitForURL(/[^r]$/)
    await page.reload()
  },
}

// meet lets a robot open a push, and returns what came of it.
async function meet(t, robot, reveal) {
  const visitor = await scene.visit(t)
  const push = await scene.pushbox.create({ payload: 'not for robots', reveal })
  await visitor.navigate(scene.link(push))
  const before = scene.secure.answered.mark()
  const posted = () => scene.secure.answered.first('the robot to send the form', ({ method }) => method === 'POST', before)
  await robot(visitor.page, posted)
  return { page: visitor.page, push, posted }
}

for (const [name, robot] of Object.entries({ ...held, ...sent })) {
  test(`${name} uses no view where people type a number`, async (t) => {
    const { page, push, posted } = await meet(t, robot, 'type')
    if (held[name]) assert.equal(await page.locator('#number:invalid').count(), 1)
    else assert.equal((await posted()).status, 403)
    assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation'])

    const easy = await meet(t, robot, 'press')
    assert.equal((await easy.posted()).status, 200)
    assert.ok((await scene.pushbox.audit(easy.push)).views > 0)
  })
}

test('a person types the number, also after a mistake', async (t) => {
  const visitor = await scene.visit(t)
  const { page } = visitor
  await visitor.navigate(scene.link(await scene.pushbox.create({ payload: 'for people', reveal: 'type', expire_after_views: 1 })))
  const [number] = (await page.locator('label[for=number]').innerText()).match(/\d{3}/)
  await page.keyboard.type('7')
  await page.keyboard.press('Enter')
  await page.locator('#number-error').waitFor()
  await page.keyboard.type(number)
  await page.keyboard.press('Enter')
  await page.getByText('for people').waitFor()
})

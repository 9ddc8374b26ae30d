import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'

import { arriveSignedIn, chooseKind, copy, fillPush, madeLink, opened, openPush, sendPush, tokenOf, unveil } from './lib/acts.js'
import { differing, differingKeys, examples, requestExamples } from './lib/examples.js'
import { scanned } from './lib/qr.js'
import { setScene } from './lib/scene.js'
import { codeOf } from './lib/totp.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_FILES_MAX_FILE_SIZE: '64MiB' })

const stored = async (link) => (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).json()
const ciphertext = /^pushbox-end-to-end\.1\.[\w-]+\.[\w-]+$/

// push makes an encrypted push and returns its link.
async function push(guest, what) {
  await guest.go('/')
  await fillPush(guest, { ...what, encrypt: true })
  await sendPush(guest)
  return madeLink(guest)
}

test('the script makes and reads the examples of wrapped keys', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  await guest.go('/requests/new')
  assert.deepEqual(await guest.page.evaluate(differingKeys, await requestExamples()), [])
})

const openButton = (guest) => guest.page.getByRole('button', { name: say('step_open'), exact: true })

test('the script makes and reads the examples of the format', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  assert.deepEqual(await guest.page.evaluate(differing, await examples()), [])
})

test('a text is encrypted, and opens with the whole link alone', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const secret = 'first-marker\n  second <line> & more\n\n'
  const link = await push(sender, { payload: secret, views: 2 })
  const key = new URL(link).hash.slice(1)
  assert.match(key, /^a[\w-]{48}$/)
  await sender.page.getByText(say('made_encrypted')).waitFor()
  assert.ok((await sender.page.locator('#words').inputValue()).includes(link))
  assert.equal(await sender.page.locator('a[target]').getAttribute('href').then((href) => new URL(href, link).hash), `#${key}`)
  await sender.page.locator('.ways summary').click()
  assert.equal(await scanned(sender), link)

  // a link without its key, or with a part of it, spends no view
  for (const [cut, why] of [['', 'none'], [`#${key.slice(0, -1)}`, 'cut'], ['#main', 'cut']]) {
    await recipient.go('about:blank')
    await recipient.go(link.replace(/#.*/, cut))
    await recipient.page.getByText(say(`step_encrypted_${why}`)).waitFor()
    assert.equal(await openButton(recipient).isVisible(), false)
  }
  // the rest of the link can be pasted
  await recipient.page.evaluate((hash) => { location.hash = hash }, key)
  await openButton(recipient).click()
  await opened(recipient)
  assert.equal(await unveil(recipient), secret)
  assert.equal(await recipient.page.locator('#unreadable').isVisible(), false)

  // loading again leads to the step, with the key
  await recipient.page.reload()
  await openButton(recipient).waitFor()
  assert.equal(new URL(recipient.page.url()).hash, `#${key}`)
  const left = await stored(link)
  assert.deepEqual([left.client_encrypted, left.views_remaining], [true, 0])
  assert.match(left.payload, ciphertext)
  scene.unheard('first-marker', key, key.slice(1, 30))
})

test('the page draws the QR code of its link as the server draws that of a text', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const link = await push(sender, { payload: 'x' })
  await openPush(scene, recipient, await scene.pushbox.create({ kind: 'qr', payload: link }))
  await opened(recipient)
  assert.equal(await scanned(recipient), link)
  const [drawn, served] = await Promise.all([sender, recipient].map(({ page }) => page.locator('figure.qr svg').getAttribute('viewBox')))
  assert.equal(drawn, served)
})

test('the link to the content does not replace the key', async (t) => {
  const guest = await scene.guest(t)
  const link = await push(guest, { payload: 'x' })
  await guest.page.locator('h1').press('Tab')
  await guest.page.locator('.skip').press('Enter')
  await guest.page.waitForFunction(() => document.activeElement.id === 'main')
  await guest.page.reload()
  assert.equal(await madeLink(guest), link)
})

test('a login is shown in fields, and covered again', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const login = { user: 'ann <b>', password: ' two  words ', seed: 'jbsw y3dp ehpk 3pxp', note: 'first\nsecond' }
  await sender.go('/')
  await fillPush(sender, { encrypt: true })
  await chooseKind(sender, 'login')
  for (const [name, value] of Object.entries(login)) await sender.page.locator(`#login-${name}`).fill(value)
  await sendPush(sender)
  const { page } = recipient
  const now = Date.now()
  await page.clock.setFixedTime(now)
  await recipient.go(await madeLink(sender))
  await openButton(recipient).click()
  await opened(recipient)
  await page.locator('#login-code').waitFor()
  for (const [name, value] of Object.entries(login)) assert.equal(await page.locator(`#login-${name}`).textContent(), value)
  assert.equal(await page.locator('#login-address').isVisible(), false)
  assert.equal(await page.locator('#login-code').textContent(), codeOf(login.seed, 0, now))
  await page.getByText(say('reveal_login_text')).click()
  assert.equal(await page.locator('#secret').textContent(), 'User name: ann <b>\nPassword:  two  words \nOne-time code seed: jbsw y3dp ehpk 3pxp\nNote: first\nsecond')

  const copy = page.locator('[data-copy="#login-password"]')
  await copy.focus()
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  assert.deepEqual([await page.locator('#fields .veiled').count(), await page.locator('#secret').isVisible()], [1, false])
  await page.keyboard.press('Enter') // the focus is on the cover
  await copy.click()
  assert.equal(await page.locator('.veiled').count(), 0)
})

test('another text is not shown as a login', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  for (const text of ['User name: ann', 'Password: x\nUser name: ann', 'User name: ann\nPassword: x\n', 'User name: ann\nPassword: ', 'User name: ann\nhello']) {
    await recipient.go(await push(sender, { payload: text }))
    await openButton(recipient).click()
    await opened(recipient)
    assert.equal(await unveil(recipient), text)
    assert.deepEqual([await recipient.page.locator('#secret').isVisible(), await recipient.page.locator('#fields').isVisible()], [true, false])
  }
})

test('a push that opens at once waits for its key, and a passphrase may be wrong before', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const link = await push(sender, { payload: 'behind both', passphrase: 'open sesame', step: false })
  recipient.foresee(403)
  await recipient.go(link)
  for (const passphrase of ['wrong', 'open sesame']) {
    await recipient.page.getByLabel(say('step_passphrase'), { exact: true }).fill(passphrase)
    await openButton(recipient).click()
    if (passphrase === 'wrong') await recipient.page.getByText(say('step_wrong')).waitFor()
  }
  await opened(recipient)
  assert.equal(await unveil(recipient), 'behind both')

  const free = await push(sender, { payload: 'no step', step: false })
  await recipient.go(free.replace(/#.*/, ''))
  await recipient.page.getByText(say('step_encrypted_none')).waitFor()
  assert.equal((await stored(free)).views_remaining, 4)
})

test('files and their names are encrypted, and saved as they were', async (t) => {
  const account = await scene.account()
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  await arriveSignedIn(sender, account)
  const contents = [randomBytes(300_000), Buffer.from('second-marker'), Buffer.alloc(0)]
  const names = ['name-marker ä.bin', 'b.txt', 'empty.dat']
  const files = contents.map((buffer, i) => ({ name: names[i], mimeType: 'text/x-type-marker', buffer }))
  const link = await push(sender, { kind: 'file', payload: 'text-marker', files })
  await recipient.go(link)
  await openButton(recipient).click()
  await opened(recipient)
  assert.equal(await unveil(recipient), 'text-marker')
  assert.deepEqual(await recipient.page.locator('.files .name').allTextContents(), names)
  for (const [i, name] of names.entries()) {
    const button = recipient.page.getByRole('link', { name: say('reveal_download_name', { name }) })
    const { state, filePath } = await (await recipient.download(() => button.click())).end()
    assert.deepEqual([state, path.basename(filePath)], ['completed', name])
    assert.deepEqual(await readFile(filePath), contents[i])
  }
  await recipient.page.evaluate(() => document.querySelectorAll('.files .had').forEach((had) => { had.hidden = true }))
  await recipient.press(say('reveal_download_each'))
  await recipient.page.waitForFunction(() => [...document.querySelectorAll('.files .had')].every((had) => !had.hidden))
  const there = await stored(link)
  assert.deepEqual(there.files.map(({ filename, size }) => [filename, size]), contents.map(({ length }, i) => [`${i + 1}.bin`, 7 + length + 16 * Math.max(1, Math.ceil(length / 65536))]))
  scene.unheard('name-marker', 'type-marker', 'second-marker', 'text-marker', new URL(link).hash.slice(1), contents[0].subarray(1000, 1032))
})

test('what cannot be decrypted is not shown', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const [one, other] = [await push(sender, { payload: 'one' }), await push(sender, { payload: 'other' })]
  await recipient.go(one.replace(/#.*/, new URL(other).hash))
  await openButton(recipient).click()
  await opened(recipient)
  await recipient.page.getByText(say('reveal_unreadable')).waitFor()
  assert.equal(await recipient.page.locator('#secret').count(), 0)
})

test('without scripts the page says what is missing, and spends no view', async (t) => {
  const link = await push(await scene.guest(t), { payload: 'x' })
  const guest = await scene.guest(t, { script: false })
  await guest.go('/')
  assert.equal(await guest.page.locator('#encrypt').isVisible(), false)
  await guest.go(link)
  await guest.page.getByText(say('step_encrypted_scripts')).waitFor()
  assert.equal(await openButton(guest).isVisible(), false)
  assert.equal((await stored(link)).views_remaining, 4)
})

test('over plain HTTP nothing is encrypted, and what was is not opened', async (t) => {
  const link = await push(await scene.guest(t), { payload: 'x' })
  const guest = await scene.guest(t, { at: scene.plain.url })
  await guest.go('/')
  assert.equal(await guest.page.locator('#encrypt').isDisabled(), true)
  await guest.go(new URL(link).pathname + new URL(link).hash)
  await guest.page.getByText(say('step_encrypted_https')).waitFor()
  assert.equal(await openButton(guest).isVisible(), false)
})

test('a form that comes back has the text as it was typed', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(422)
  await guest.go('/')
  await guest.page.locator('#create').evaluate((form) => { form.noValidate = true })
  await fillPush(guest, { payload: 'typed', views: 1000, encrypt: true })
  await sendPush(guest)
  await guest.page.getByRole('alert').getByText(say('create_bad_views', { min: 1, max: 100 })).waitFor()
  assert.equal(await guest.page.locator('#payload').inputValue(), 'typed')
  await fillPush(guest, { views: 1 })
  await sendPush(guest)
  assert.match((await stored(await madeLink(guest))).payload, ciphertext)
})

test('an encryption can be stopped, and begun again', async (t) => {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  await guest.go('/')
  const files = [{ name: 'a.bin', mimeType: 'text/plain', buffer: Buffer.alloc(200_000) }]
  await fillPush(guest, { kind: 'file', files, encrypt: true })
  await guest.page.evaluate(() => {
    const { encrypt } = SubtleCrypto.prototype
    const gate = new Promise((open) => { window.openGate = open })
    SubtleCrypto.prototype.encrypt = async function (...args) {
      await gate
      return encrypt.apply(this, args)
    }
  })
  const before = scene.secure.answered.mark()
  await sendPush(guest)
  await guest.page.locator('#sent').getByText(say('create_encrypting')).waitFor()
  await guest.page.keyboard.press('Enter') // on "Stop"
  await guest.page.evaluate(() => window.openGate())
  await guest.page.locator('#told').getByText(say('create_stopped')).waitFor()
  assert.equal(scene.secure.answered.mark(), before)
  await sendPush(guest)
  assert.equal((await stored(await madeLink(guest))).files[0].filename, '1.bin')
})

test('a page that cannot encrypt says so, and sends nothing', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await fillPush(guest, { payload: 'kept', encrypt: true })
  await guest.page.evaluate(() => { SubtleCrypto.prototype.encrypt = () => Promise.reject(new Error('broken')) })
  const before = scene.secure.answered.mark()
  await sendPush(guest)
  await guest.page.locator('#failed').getByText(say('create_encrypting_failed')).waitFor()
  assert.equal(await guest.page.locator('#payload').inputValue(), 'kept')
  assert.equal(scene.secure.answered.mark(), before)
})

test('a browser runs no script that differs from its digest', async (t) => {
  const visitor = await scene.visit(t)
  await visitor.page.route('**/endtoend*.js', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: `${await response.text()}\n` })
  })
  await visitor.page.goto(scene.pushbox.url)
  const loaded = await visitor.page.locator('#encrypt').evaluate(({ dataset }) => import(dataset.module).then(() => true, () => false))
  assert.equal(loaded, false)
})

test('link and key go apart, and the step takes the key by hand', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const link = await push(sender, { payload: 'in two parts', views: 2, passphrase: 'open sesame' })
  const key = new URL(link).hash.slice(1)
  await sender.page.getByText(say('receipt_apart'), { exact: true }).click()
  assert.equal(await sender.page.locator('#bare').inputValue(), link.replace(/#.*/, ''))
  assert.equal(await sender.page.locator('#key').inputValue(), key)
  await copy(sender, say('receipt_copy_key'))
  await copy(sender, say('receipt_copy_bare'))

  const { page } = recipient
  await recipient.go(link.replace(/#.*/, ''))
  const field = page.getByLabel(say('step_key'), { exact: true })
  for (const wrong of [key.slice(0, -1), `b${key.slice(1)}`, `${key.slice(0, 9)}${key[9] === 'A' ? 'B' : 'A'}${key.slice(10)}`, 'hello']) {
    await field.fill(wrong)
    await field.press('Enter')
    await page.locator('#key-error').getByText(say('step_key_wrong')).waitFor()
    assert.equal(await openButton(recipient).isVisible(), false)
    await field.fill('')
    await page.locator('#key-error').evaluate((error) => { error.textContent = '' })
  }
  await field.fill(` ${key.slice(0, 20)} ${key.slice(20)} `) // as mail may break it
  await recipient.press(say('step_key_use'))
  await page.getByLabel(say('step_passphrase'), { exact: true }).fill('open sesame')
  assert.equal(await field.isVisible(), false)
  await openButton(recipient).click()
  await opened(recipient)
  assert.equal(await unveil(recipient), 'in two parts')
  scene.unheard(key, key.slice(1, 30))
})

test('the step takes a whole link where only the key is missing', async (t) => {
  const [sender, recipient] = [await scene.guest(t), await scene.guest(t)]
  const link = await push(sender, { payload: 'x' })
  await recipient.go(link.replace(/#.*/, ''))
  await recipient.page.getByLabel(say('step_key'), { exact: true }).fill(link)
  await recipient.press(say('step_key_use'))
  await openButton(recipient).click()
  await opened(recipient)
  assert.equal(await unveil(recipient), 'x')
})

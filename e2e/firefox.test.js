// End-to-end encryption in Firefox. The file endtoend tests the rest of it, in Chromium.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'

import { differing, differingKeys, examples, requestExamples } from './lib/examples.js'
import { Fox, openFirefox } from './lib/firefox.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true' }, {}, { open: openFirefox })

async function arrive(t) {
  const fox = await Fox.arrive(scene.browser, scene.secure.url)
  t.after(() => fox.leave())
  return fox
}

async function signIn(fox, { email, password }) {
  await fox.go('/users/sign_in')
  await fox.fill({ '#email': email, '#password': password })
  await fox.press('main form button:not([type])')
  await fox.page.waitForSelector('header a[href="/p"]')
}

// send encrypts and sends what the form has, and returns the link.
async function send(fox) {
  await fox.press('#more > summary', '#encrypt', '.send button')
  await fox.see(say('made_encrypted'))
  return fox.read('#link', 'value')
}

test('the script makes and reads the examples of the format in Firefox', async (t) => {
  const fox = await arrive(t)
  fox.foresee(/ReadableStream/) // files that the script refuses
  await fox.go('/')
  assert.deepEqual(await fox.page.evaluate(differing, await examples()), [])
})

test('the script makes and reads the examples of wrapped keys in Firefox', async (t) => {
  const [fox, account] = [await arrive(t), await scene.account()]
  await signIn(fox, account)
  await fox.go('/requests/new')
  assert.deepEqual(await fox.page.evaluate(differingKeys, await requestExamples()), [])
})

test('a request made in Firefox is answered there, and the answer is read', async (t) => {
  const [fox, account] = [await arrive(t), await scene.account()]
  await signIn(fox, account)
  await fox.go('/requests/new')
  await fox.fill({ '#text': 'What I need' })
  await fox.press('.more > summary', '#encrypt', '.send button')
  await fox.see(say('request_title'))
  await fox.page.waitForFunction(() => location.hash)
  const own = await fox.page.evaluate(() => location.href)
  assert.match(new URL(own).hash, /^#a[\w-]{48,91}$/)
  await fox.go(await fox.read('#link', 'value'))
  await fox.fill({ '#payload': 'third-marker' })
  await fox.press('.send button')
  await fox.see(say('sent_title'))
  await fox.go(own)
  await fox.press('.files button')
  await fox.page.waitForSelector('#secret', { visible: true })
  assert.equal(await fox.read('#secret'), 'third-marker')
  scene.unheard('third-marker', new URL(own).hash.slice(1))
})

test('a text that Firefox encrypts opens in it with the whole link alone', async (t) => {
  const fox = await arrive(t)
  const secret = 'first-marker\n  second <line> & ünïcode 🔑\n\n'
  await fox.go('/')
  await fox.fill({ '#payload': secret })
  const link = await send(fox)
  const key = new URL(link).hash
  const other = `#${(await examples())[0][0].fragment}`
  for (const [cut, why] of [['', 'none'], [key.slice(0, -1), 'cut'], ['#main', 'cut']]) {
    await fox.go(link.replace(/#.*/, cut))
    await fox.see(say(`step_encrypted_${why}`))
    assert.equal(await fox.read('#open', 'hidden'), true)
  }
  for (const hash of [other, key]) {
    await fox.go(link.replace(/#.*/, hash))
    await fox.press('#open button')
    if (hash === other) await fox.see(say('reveal_unreadable'))
  }
  await fox.page.waitForSelector('#secret', { visible: true })
  assert.equal(await fox.read('#secret'), secret)
  const heard = Buffer.concat(scene.secure.heard)
  for (const text of ['first-marker', key.slice(1)]) assert.equal(heard.indexOf(text), -1)
})

test('files that Firefox encrypts are saved as they were', async (t) => {
  const [fox, { email, password }] = [await arrive(t), await scene.account()]
  const folder = await mkdtemp(path.join(tmpdir(), 'pushbox-e2e-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = new Map([['name-marker ä.bin', randomBytes(200_000)], ['empty.dat', Buffer.alloc(0)]])
  for (const [name, content] of files) await writeFile(path.join(folder, name), content)

  await signIn(fox, { email, password })
  await fox.go('/')
  await fox.press('label[for=kind-file]')
  await fox.choose(...[...files.keys()].map((name) => path.join(folder, name)))
  await fox.fill({ '#payload': 'a message' })
  const link = await send(fox)
  await fox.go(link)
  await fox.press('#open button')
  await fox.page.waitForSelector('#secret', { visible: true })
  assert.equal(await fox.read('#secret'), 'a message')
  for (const [name, content] of files) {
    const button = `.files a[aria-label="${say('reveal_download_name', { name })}"]`
    assert.deepEqual(await fox.saved(name, content.length, () => fox.press(button)), content)
  }
  assert.equal(Buffer.concat(scene.secure.heard).indexOf('name-marker'), -1)
})

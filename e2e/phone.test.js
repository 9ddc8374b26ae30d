// What people without an account do with a phone: they put the pages on the home screen, share a text
// into the form, and send a small file where a setting lets them.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { chooseKind, fillPush, madeLink, openPush, opened, sendPush, tokenOf, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({ PUSHBOX_FILES_ANONYMOUS_MAX_SIZE: '1KiB', PUSHBOX_BRAND_TITLE: 'Ann’s safe' })

// share does what the phone does when another app shares.
const share = ({ page }, shared) => page.evaluate((shared) => {
  const form = Object.assign(document.createElement('form'), { method: 'post', action: 'share' })
  for (const [name, value] of Object.entries(shared)) form.append(Object.assign(document.createElement('textarea'), { name, value }))
  document.body.append(form)
  form.submit()
}, shared)

for (const script of [true, false])
  test(`a text that a phone shares is in the form, and sent by the sender alone${script ? '' : ', without scripts'}`, async (t) => {
    const [guest, recipient] = [await scene.guest(t, { touch: true, width: 375 }), await scene.guest(t)]
    await guest.go('/')
    const text = 'Wi-Fi: “café”\nP;ssw&rd'
    await share(guest, { title: 'Note', text })
    await guest.page.waitForURL('**/share')
    await guest.wholePage({ level: 1, name: say('create_heading') })
    assert.equal(await guest.page.locator('#payload').inputValue(), text)
    assert.equal(guest.guard.requests.entries.some(({ url }) => url.includes('Wi-Fi')), false)
    if (!script) return
    await sendPush(guest)
    await openPush(scene, recipient, { html_url: await madeLink(guest) })
    await opened(recipient)
    assert.equal(await unveil(recipient), text)
  })

test('a shared text keeps its kind where this browser remembers another', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await fillPush(guest, { kind: 'qr' })
  await guest.page.locator('#more').evaluate((more) => { more.open = true })
  await guest.page.locator('#remember').check()
  await share(guest, { url: 'https://example.com/' })
  await guest.page.waitForURL('**/share')
  await guest.wholePage({ level: 1, name: say('create_heading') })
  assert.equal(await guest.page.locator('#kind-text').isChecked(), true)
  assert.equal(await guest.page.locator('#payload').inputValue(), 'https://example.com/')
  await guest.page.locator('#payload').fill('')
})

test('the pages can be put on the home screen', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  const { errors, data, url } = await guest.devtools.send('Page.getAppManifest')
  assert.deepEqual(errors, [])
  const { name, icons, share_target: target } = JSON.parse(data)
  assert.equal(name, 'Ann’s safe')
  assert.deepEqual([target.action, target.method], ['/share', 'POST'])
  for (const { src } of icons) assert.equal(await guest.page.evaluate((at) => fetch(at).then(({ status }) => status), new URL(src, url).href), 200)
})

test('a small file is sent without an account, and a larger one is not', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await chooseKind(guest, 'file')
  await guest.page.locator('#files').setInputFiles({ name: 'large.bin', mimeType: 'text/plain', buffer: Buffer.alloc(1025) })
  await guest.page.locator('#chosen .error').waitFor()
  await sendPush(guest)
  await guest.page.locator('#failed').waitFor()
  await guest.page.locator('#chosen button').click()
  await guest.page.locator('#files').setInputFiles({ name: 'small.bin', mimeType: 'text/plain', buffer: Buffer.alloc(1024, 'x') })
  await sendPush(guest)
  const { files } = await scene.pushbox.show({ url_token: tokenOf(await madeLink(guest)) })
  assert.deepEqual(files.map(({ filename, size }) => [filename, size]), [['small.bin', 1024]])
})

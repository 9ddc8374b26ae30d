import assert from 'node:assert/strict'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'

// Clients of Password Pusher that live in a browser.

const scene = setScene(
  { PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '0' },
  { '/': '<!doctype html><title>another site</title><link rel="icon" href="data:,">' },
)

// ask sends a request from a page of another site, as a script there does. It returns
// what the script can read.
async function ask(visitor, path, init) {
  return visitor.page.evaluate(
    async ([url, init]) => {
      try {
        const response = await fetch(url, init)
        return { status: response.status, body: await response.json() }
      } catch (err) {
        return { error: err.name }
      }
    },
    [scene.secure.url + path, init],
  )
}

const json = (body) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })

const form = (body) => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(body).toString(),
})

test('a script on another site can create a push by API version 1, and nothing else', async (t) => {
  const visitor = await scene.visit(t)
  await visitor.navigate(scene.site.url)
  for (const init of [json({ password: { payload: 'from a script' } }), form({ 'password[payload]': 'from a script' })]) {
    const made = await ask(visitor, '/p.json', init)
    assert.equal(made.status, 201)
    const { url_token } = made.body
    assert.equal((await ask(visitor, '/p.json', form({ 'password[payload]': '' }))).status, 422)
    for (const path of [`/p/${url_token}.json`, `/p/${url_token}/preview.json`, `/api/v2/pushes/${url_token}/preview`])
      assert.deepEqual(await ask(visitor, path), { error: 'TypeError' }, path)
    assert.deepEqual(await ask(visitor, `/p/${url_token}.json`, { method: 'DELETE' }), { error: 'TypeError' })
  }
  assert.deepEqual(await ask(visitor, '/api/v2/pushes', json({ push: { payload: 'x' } })), { error: 'TypeError' })
  assert.deepEqual(await ask(visitor, '/f.json', json({ file_push: { payload: 'x' } })), { error: 'TypeError' })
})

test('the QR code of a push can be drawn outside its page, as the official extension draws it', async (t) => {
  const push = await scene.pushbox.create({ payload: 'x' })
  const page = await (await fetch(`${scene.pushbox.url}/p/${push.url_token}/preview`)).text()
  const code = page.match(/<svg[^>]*id="qr[\s\S]*?<\/svg>/)[0]
  const visitor = await scene.visit(t)
  await visitor.navigate(scene.site.url)
  const shades = await visitor.page.evaluate(async (svg) => {
    const image = new Image()
    image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
    await image.decode()
    const canvas = Object.assign(document.createElement('canvas'), { width: 512, height: 512 })
    const context = canvas.getContext('2d')
    context.drawImage(image, 0, 0, 512, 512)
    const count = { dark: 0, light: 0, other: 0 }
    const { data } = context.getImageData(0, 0, 512, 512)
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] !== 255) count.other++
      else if (data[i] < 64) count.dark++
      else if (data[i] > 192) count.light++
    }
    return count
  }, code)
  assert.equal(shades.other, 0)
  assert.ok(shades.dark > 40_000 && shades.light > 80_000, JSON.stringify(shades))
  assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation'])
})

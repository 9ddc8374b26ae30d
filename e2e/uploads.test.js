import assert from 'node:assert/strict'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'

// The form is on another site, since a form cannot send an API token. The site passes on
// the browser's request unchanged.
const scene = setScene({}, {
  '/form': `<form method="post" enctype="multipart/form-data" action="/sent">
    <textarea name="push[payload]"></textarea>
    <input type="file" multiple name="push[files][]">
    <button>Send</button></form>`,
  '/sent': 'thank you',
})

// submit makes the browser send the form, and creates a push from its request.
async function submit(visitor, text, files) {
  const before = scene.site.asked.mark()
  await visitor.navigate(`${scene.site.url}/form`)
  await visitor.page.getByRole('textbox').fill(text)
  await visitor.page.locator('input[type=file]').setInputFiles(files)
  await visitor.page.getByRole('button', { name: 'Send' }).click()
  const { headers, body } = await scene.site.asked.first('the form', ({ path }) => path === '/sent', before)
  return { body, pushed: await scene.pushbox.send(body, headers['content-type']) }
}

// File names, how the browser sends them, and how the server stores them.
const names = [
  { name: 'plain.txt', sent: 'plain.txt' },
  { name: 'a"b.txt', sent: 'a%22b.txt' },
  { name: 'a\nb.txt', sent: 'a%0Ab.txt', stored: 'ab.txt' },
  { name: 'a\r\nX-Evil: b.txt', sent: 'a%0D%0AX-Evil: b.txt', stored: 'aX-Evil: b.txt' },
  { name: '100%.txt', sent: '100%.txt' },
  { name: "it's; filename=b.txt", sent: "it's; filename=b.txt" },
  { name: '名前.txt', sent: '名前.txt' },
  { name: '📎.txt', sent: '📎.txt' },
  { name: '👩\u200D👧.txt', sent: '👩\u200D👧.txt' },
]

test('the names and contents of files arrive as a browser sends them', async (t) => {
  const visitor = await scene.visit(t)
  const files = names.map(({ name }, i) => ({
    name, mimeType: 'text/plain', buffer: Buffer.from(`content ${i}\r\n--\0`),
  }))
  const { body, pushed } = await submit(visitor, 'two\nlines', files)
  for (const { sent } of names) assert.ok(body.includes(`name="push[files][]"; filename="${sent}"\r\n`), sent)
  const push = await scene.pushbox.show(pushed)
  assert.equal(push.kind, 'file')
  assert.equal(push.payload, 'two\r\nlines') // as every form sends them
  assert.deepEqual(push.files.map((file) => file.filename), names.map(({ name, stored }) => stored ?? name))
  for (const [i, { url, content_type, size }] of push.files.entries()) {
    const content = Buffer.from(await (await fetch(url)).arrayBuffer())
    assert.deepEqual(content, files[i].buffer)
    assert.deepEqual({ content_type, size }, { content_type: 'text/plain', size: content.length })
  }
})

test('a form without a file makes a push of its text', async (t) => {
  const { body, pushed } = await submit(await scene.visit(t), 'only text', [])
  assert.ok(body.includes('filename=""'))
  const push = await scene.pushbox.show(pushed)
  assert.deepEqual([push.kind, push.payload, push.files], ['text', 'only text', []])
})

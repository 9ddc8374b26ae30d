import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({}, {
  '/link': (site) => `<a href="${site.target}">the file</a>`,
})

const digest = (content) => createHash('sha256').update(content).digest('hex')

// Files, and the names that they are saved under: Chromium writes _ for characters
// that a file system may not allow.
const files = [
  { name: 'report.txt', content: 'plain' },
  { name: 'my "best" report, it\'s.txt', saved: 'my _best_ report, it\'s.txt', content: 'spaces and quotes' },
  { name: '100%41 sure; really=yes.txt', content: 'what a header could take amiss' },
  { name: '報告書 第1版.xlsx', content: '日本語' },
  { name: '📎.png', content: randomBytes(70_000) },
  { name: '\u{1F469}\u200D\u{1F467}.png', saved: '\u{1F469}_\u{1F467}.png', content: 'two emoji, joined' },
  { name: 'empty.bin', content: '' },
  { name: 'large.bin', content: randomBytes(20 << 20) },
]

// The two ways to open an address.
const ways = {
  'by its address': (visitor, url) => visitor.navigate(url),
  'by a link on a page': async (visitor, url) => {
    scene.site.target = url
    await visitor.navigate(`${scene.site.url}/link`)
    await visitor.page.getByRole('link').click()
  },
}

for (const [way, go] of Object.entries(ways)) {
  test(`files are saved under their names, opened ${way}`, async (t) => {
    const visitor = await scene.visit(t)
    const push = await scene.pushbox.show(await scene.pushbox.push(...files))
    for (const [i, file] of files.entries()) {
      const download = await visitor.download(() => go(visitor, push.files[i].url))
      const { state, filePath } = await download.end()
      assert.equal(state, 'completed', file.name)
      assert.equal(path.basename(filePath), file.saved ?? file.name)
      assert.equal(digest(await readFile(filePath)), digest(file.content), file.name)
    }
    assert.equal((await visitor.saved()).length, files.length)
  })
}

test('headers tell the browser to save a file, and never to show, cache or sniff it', async (t) => {
  const visitor = await scene.visit(t)
  const push = await scene.pushbox.show(await scene.pushbox.push({ name: '名前.html', content: '<p>hello' }))
  const answered = visitor.page.waitForEvent('response')
  await visitor.download(() => visitor.navigate(push.files[0].url))
  const headers = await (await answered).allHeaders()
  assert.equal((await answered).status(), 200)
  for (const [name, value] of Object.entries({
    'accept-ranges': 'bytes',
    'cache-control': 'no-store',
    'content-disposition': 'attachment; filename="__.html"; filename*=UTF-8\'\'%E5%90%8D%E5%89%8D.html',
    'content-length': '8',
    'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
    'content-type': 'application/octet-stream',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
  })) assert.equal(headers[name], value, name)
  assert.equal('set-cookie' in headers, false)
})

test('after the push is deleted the address shows the page of a dead link and saves nothing', async (t) => {
  const visitor = await scene.visit(t)
  const pushed = await scene.pushbox.push(files[0])
  const { files: [{ url }] } = await scene.pushbox.show(pushed)
  await (await visitor.download(() => visitor.navigate(url))).end()
  await scene.pushbox.expire(pushed)
  const response = await visitor.navigate(url)
  assert.equal(response?.status(), 404)
  assert.equal(await visitor.page.getByRole('heading', { level: 1 }).innerText(), say('problem_not_found_title'))
  assert.deepEqual(await visitor.saved(), [files[0].name])
})

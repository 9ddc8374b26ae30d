import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'

// Files that do harm if a browser shows them: each asks a site for a picture, and runs
// a script that asks it for more and opens a dialog.
const hostile = {
  html: (script, picture) => `<!doctype html><title>hostile</title><img src="${picture}"><script>${script}</script>`,
  svg: (script, picture) =>
    `<svg xmlns="http://www.w3.org/2000/svg"><image href="${picture}"/><script>${script}</script></svg>`,
  js: (script) => script,
}

// harm returns such a file. Its requests to the site begin with /mark/.
function harm(kind, site, mark) {
  const script = `fetch('${site.url}/${mark}/script', { mode: 'no-cors' }).finally(() => alert('${mark}'))`
  return hostile[kind](script, `${site.url}/${mark}/picture`)
}

const scene = setScene({}, {
  '/': '<title>another site</title>',
  '/html': (site) => harm('html', site, 'shown-html'),
  '/svg': (site) => harm('svg', site, 'shown-svg'),
  '/embedding': (site) => site.embedding,
})

// done returns the requests of the files with a mark.
const done = (mark) => scene.site.asked.entries.filter((request) => request.path.startsWith(`/${mark}/`))

for (const kind of ['html', 'svg']) {
  test(`${kind} does harm if it is shown, so the test would notice`, async (t) => {
    const visitor = await scene.visit(t)
    const dialog = visitor.page.waitForEvent('dialog')
    await visitor.navigate(`${scene.site.url}/${kind}`)
    await dialog
    for (const what of ['script', 'picture']) {
      await scene.site.asked.first(what, (request) => request.path === `/shown-${kind}/${what}`)
    }
    assert.equal(visitor.dialogs, 1)
  })

  test(`${kind} of a push is saved, neither shown nor run`, async (t) => {
    const visitor = await scene.visit(t)
    const content = harm(kind, scene.site, `pushed-${kind}`)
    const push = await scene.pushbox.show(await scene.pushbox.push({ name: `page.${kind}`, content }))
    await visitor.navigate(`${scene.site.url}/`)
    const { filePath } = await (await visitor.download(() => visitor.navigate(push.files[0].url))).end()
    assert.equal(await readFile(filePath, 'utf8'), content)
    assert.equal(visitor.page.url(), `${scene.site.url}/`)
    assert.equal(await visitor.page.title(), 'another site')
    assert.deepEqual(visitor.context.pages(), [visitor.page])
    assert.deepEqual(done(`pushed-${kind}`), [])
    assert.equal(visitor.dialogs, 0)
  })
}

test('a page on another site that embeds files of a push runs none of them', async (t) => {
  const visitor = await scene.visit(t)
  const files = Object.keys(hostile).map((kind) => ({
    name: `embedded.${kind}`, content: harm(kind, scene.site, 'embedded'),
  }))
  const [html, svg, js] = (await scene.pushbox.show(await scene.pushbox.push(...files))).files.map((file) => file.url)
  scene.site.embedding = `<iframe src="${html}"></iframe><object data="${svg}"></object>
    <embed src="${svg}"><img src="${svg}"><script src="${js}" onerror="document.title = 'refused'"></script>`
  await visitor.navigate(`${scene.site.url}/embedding`)
  await visitor.page.waitForLoadState('load')
  assert.equal(await visitor.page.title(), 'refused')
  assert.equal(await visitor.page.evaluate(() => document.images[0].naturalWidth), 0)
  assert.deepEqual(done('embedded'), [])
  assert.equal(visitor.dialogs, 0)
})

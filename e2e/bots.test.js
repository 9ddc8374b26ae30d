import assert from 'node:assert/strict'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene(
  { PUSHBOX_LIMITS_ANONYMOUS_PER_MINUTE: '0' },
  {
    '/': (site) => site.page,
  },
)

const page = (text) => `<!doctype html><title>another site</title><link rel="icon" href="data:,">${text}`

// Programs that fetch links which people send, and their requests.
const bots = {
  Slack: [
    {
      headers: {
        'User-Agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
        Accept: '*/*',
        Range: 'bytes=0-32768',
      },
    },
  ],
  Teams: [
    {
      headers: {
        'User-Agent': 'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
        Accept: 'text/html',
      },
    },
    { headers: { 'User-Agent': 'Mozilla/5.0 (compatible; Microsoft Teams; Link Unfurling)', Accept: '*/*' } },
  ],
  WhatsApp: [{ headers: { 'User-Agent': 'WhatsApp/2.23.20.0 A', Accept: '*/*', 'Accept-Language': 'en' } }],
  'Outlook Safe Links': [
    {
      method: 'HEAD',
      headers: {
        'User-Agent':
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36',
      },
    },
    {
      headers: {
        'User-Agent':
          'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36',
        Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      },
    },
    {
      headers: { 'User-Agent': 'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; ms-office; MSOffice 16)', Accept: '*/*' },
    },
  ],
  'other previews': [
    'facebookexternalhit/1.1',
    'Twitterbot/1.0',
    'TelegramBot (like TwitterBot)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'LinkedInBot/1.0',
    'Googlebot/2.1',
    'Signal-Android/6',
    'curl/8.5.0',
  ].map((agent) => ({ headers: { 'User-Agent': agent, Accept: '*/*' } })),
  'mail scanners that post what they find': [
    { method: 'OPTIONS', headers: { 'User-Agent': 'scanner' } },
    { method: 'PROPFIND', headers: { 'User-Agent': 'Microsoft-WebDAV-MiniRedir/10.0.19045' } },
  ],
}

for (const [name, requests] of Object.entries(bots)) {
  test(`${name}: fetching a link counts no view and gets no secret`, async () => {
    for (const retrieval_step of [true, false]) {
      const push = await scene.pushbox.create({ payload: 'unseen by bots', retrieval_step })
      for (const { method = 'GET', headers } of requests) {
        for (const tail of ['', '/r']) {
          const response = await fetch(`${scene.pushbox.url}/p/${push.url_token}${tail}`, {
            method,
            headers: { ...headers, 'X-Forwarded-For': '192.0.2.9', 'X-Forwarded-Proto': 'https' },
          })
          assert.equal((await response.text()).includes('unseen by bots'), false)
          if (method === 'GET') assert.equal(response.status, 200)
          assert.match(response.headers.get('x-robots-tag'), /noindex/)
          assert.equal(response.headers.get('cache-control'), 'no-store')
        }
      }
      assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation'])
    }
  })
}

// Requests that a browser makes before a person follows a link on another site.
const ahead = {
  'a link to be prefetched': (link) => `<link rel="prefetch" href="${link}">`,
  'a link to be prefetched as a document': (link) => `<link rel="prefetch" as="document" href="${link}">`,
  'speculation rules to prefetch': (link) =>
    `<script type="speculationrules">{"prefetch":[{"urls":["${link}"],"eagerness":"immediate"}]}</script>`,
  'speculation rules to prerender': (link) =>
    `<script type="speculationrules">{"prerender":[{"urls":["${link}"],"eagerness":"immediate"}]}</script>`,
  'an image': (link) => `<img src="${link}">`,
  'a frame': (link) => `<iframe src="${link}"></iframe>`,
  'an object': (link) => `<object data="${link}"></object>`,
  'a script that fetches': (link) =>
    `<script>fetch("${link}", { mode: "no-cors", credentials: "include" }).catch(() => {})</script>`,
}

for (const [name, markup] of Object.entries(ahead)) {
  test(`${name} on another site counts no view`, async (t) => {
    const visitor = await scene.visit(t)
    const push = await scene.pushbox.create({ payload: 'unseen ahead', retrieval_step: false })
    const link = scene.link(push)
    scene.site.page = page(markup(link))
    const before = scene.secure.answered.mark()
    await visitor.navigate(scene.site.url)
    await scene.secure.answered.first('the browser to fetch ahead', ({ path }) => path === new URL(link).pathname, before)
    await visitor.page.waitForLoadState('networkidle')
    assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation'])
  })
}

test('a prerendered page shows the confirmation page when it is visited', async (t) => {
  const visitor = await scene.visit(t)
  const push = await scene.pushbox.create({ payload: 'unseen ahead', retrieval_step: false })
  const link = scene.link(push)
  scene.site.page = page(`${ahead['speculation rules to prefetch'](link)}<a href="${link}">the link</a>`)
  const before = scene.secure.answered.mark()
  await visitor.navigate(scene.site.url)
  await scene.secure.answered.first('the browser to fetch ahead', ({ path }) => path === new URL(link).pathname, before)
  await visitor.page.getByRole('link').click()
  await visitor.wholePage({ level: 1 })
  const heading = await visitor.page.getByRole('heading', { level: 1 }).innerText()
  const opened = heading === say('reveal_title')
  assert.ok(opened || heading === say('step_title'), heading)
  assert.equal((await scene.pushbox.audit(push)).views, opened ? 1 : 0)
})

test('a form on another site cannot open, delete or create a push', async (t) => {
  const visitor = await scene.visit(t)
  const push = await scene.pushbox.create({ payload: 'not for others' })
  for (const front of [scene.secure, scene.plain]) {
    for (const path of [`/p/${push.url_token}`, `/p/${push.url_token}/expire`, '/', '/users/sign_in', '/users/sign_out']) {
      scene.site.page = page(
        `<form method="post" action="${front.url}${path}"><input name="push[payload]" value="x"><button>Win a prize</button></form>`,
      )
      await visitor.navigate(scene.site.url)
      const answered = visitor.page.waitForResponse((response) => response.request().method() === 'POST')
      await visitor.page.getByRole('button').click()
      assert.equal((await answered).status(), 403, front.url + path)
      await visitor.wholePage({ name: say('problem_cross_origin_title') })
    }
  }
  assert.deepEqual((await scene.pushbox.audit(push)).kinds, ['creation'])
})

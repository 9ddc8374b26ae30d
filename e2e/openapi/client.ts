// A client with the types that openapi-typescript makes from the OpenAPI document.
// tools.test.js compiles it, strictly, and runs it against a server.
import assert from 'node:assert/strict'

import createClient from 'openapi-fetch'

import type { paths } from './schema.js'

const client = createClient<paths>({
  baseUrl: process.env.OPENAPI_SERVER ?? '',
  headers: { Authorization: `Bearer ${process.env.OPENAPI_TOKEN}` },
})

const version = await client.GET('/api/v2/version')
assert.equal(version.data?.api_version, '2.1')

// What has a default may be left out.
const plain = await client.POST('/api/v2/pushes', { body: { push: { payload: 'x' } } })
assert.equal(plain.response.status, 201)
assert.equal(plain.data?.expire_after_days, 7)

const made = await client.POST('/api/v2/pushes', {
  body: { push: { payload: 'by openapi-fetch', passphrase: 'p', expire_after_views: 3, deletable_by_viewer: false } },
})
assert.ok(made.data)
const { url_token, html_url } = made.data
const here = { path: { url_token } }

const wrong = await client.GET('/api/v2/pushes/{url_token}', { params: { ...here, query: { passphrase: 'q' } } })
assert.equal(wrong.response.status, 401)
assert.equal(wrong.error?.error, 'That passphrase is incorrect.')

const shown = await client.GET('/api/v2/pushes/{url_token}', { params: { ...here, query: { passphrase: 'p' } } })
assert.equal(shown.data?.payload, 'by openapi-fetch')

const preview = await client.GET('/api/v2/pushes/{url_token}/preview', { params: here })
assert.equal(preview.data?.url, html_url)

const active = await client.GET('/api/v2/pushes/active')
assert.ok(active.data?.some((push) => push.url_token === url_token))

const audit = await client.GET('/api/v2/pushes/{url_token}/audit', { params: here })
assert.deepEqual(audit.data?.logs.map((entry) => entry.kind), ['creation', 'failed_passphrase', 'owner_view'])

const refused = await client.POST('/api/v2/pushes', { body: { push: { payload: '' } } })
assert.equal(refused.response.status, 422)
assert.deepEqual(refused.error, { payload: ['is required'] })

const deleted = await client.DELETE('/api/v2/pushes/{url_token}', { params: here })
assert.equal(deleted.data?.deleted, true)

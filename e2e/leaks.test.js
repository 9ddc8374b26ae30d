import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { answer, arriveNew, askFor, chooseKind, fillPush, madeLink, opened, sendPush, sent, unveil } from './lib/acts.js'
import { disguises, leaks, marked } from './lib/leaks.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

// Nothing of a push that is encrypted end to end is ever sent in clear: neither its text nor the names, the types and
// the contents of its files, in no request and no encoding.

const scene = setScene({ PUSHBOX_ENABLE_REQUESTS: 'true', PUSHBOX_FILES_MAX_FILE_SIZE: '64MiB' })

const heard = () => scene.secure.requests
const open = (guest) => guest.page.getByRole('button', { name: say('step_open'), exact: true }).click()

// listen returns a function that fails if one of its secrets was sent since, or if the recorder has missed the note,
// which the server may read.
function listen() {
  const begun = heard().length
  return (note, ...secrets) => {
    const since = heard().slice(begun)
    assert.deepEqual(leaks(since, ...secrets), [])
    assert.notDeepEqual(leaks(since, note), [])
  }
}

test('the recorder finds a text in every encoding, in addresses, headers and bodies', async (t) => {
  const guest = await scene.guest(t)
  guest.foresee(403, 404)
  await guest.go('/')
  const text = marked('control')
  const begun = heard().length
  const ways = disguises(text)
  for (const [, bytes] of ways) {
    await guest.page.evaluate(([all, around]) => fetch('/nowhere', { method: 'POST', body: new Uint8Array([...around, ...all, ...around]) }), [[...bytes], [...randomBytes(9)]])
  }
  for (const [i, [how]] of ways.entries()) {
    const one = heard().slice(begun).filter((request) => request.head.includes('/nowhere')).slice(i, i + 1)
    assert.ok(leaks(one, text).length > 0, how)
  }
  const before = heard().length
  await guest.page.evaluate((cut) => fetch(`/nowhere?q=${encodeURIComponent(cut)}`), text.slice(3, 27))
  await guest.page.evaluate((cut) => fetch('/nowhere', { headers: { 'x-odd': btoa(cut) } }), text.slice(0, 24))
  for (const at of [before, before + 1]) assert.ok(leaks(heard().slice(at, at + 1), text).length > 0, `request ${at - before}`)
  const two = [0, 1].map((i) => ({ head: Buffer.from('POST\n/\n'), body: [Buffer.from(i ? text.slice(20) : text.slice(0, 20))] }))
  assert.ok(leaks(two, text.slice(10, 34)).length > 0) // across two pieces
  assert.notDeepEqual(leaks([{ head: Buffer.from('POST\n/\nContent-Encoding\ngzip\n'), body: [] }], text), [])
  assert.deepEqual(leaks(heard(), marked('absent')), [])
})

test('of a text nothing is sent in clear', async (t) => {
  const silent = listen()
  const [{ guest: sender }, recipient] = [await arriveNew(scene, t), await scene.guest(t)]
  const [text, note] = [marked('text'), marked('note')]
  await sender.go('/')
  await fillPush(sender, { payload: text, encrypt: true, note })
  await sendPush(sender)
  const link = await madeLink(sender)
  await sender.page.locator('.ways summary').click()
  await recipient.go(link)
  await open(recipient)
  await opened(recipient)
  assert.equal(await unveil(recipient), text)
  await recipient.page.reload()
  silent(note, text, new URL(link).hash.slice(1))
})

test('of a login nothing is sent in clear', async (t) => {
  const silent = listen()
  const [{ guest: sender }, recipient] = [await arriveNew(scene, t), await scene.guest(t)]
  const login = { user: marked('user'), password: marked('password'), address: `https://example.com/?${marked('address').replaceAll(' ', '-')}`, note: marked('words') }
  const note = marked('note')
  await sender.go('/')
  await fillPush(sender, { encrypt: true, note })
  await chooseKind(sender, 'login')
  for (const [name, value] of Object.entries(login)) await sender.page.locator(`#login-${name}`).fill(value)
  await sendPush(sender)
  const link = await madeLink(sender)
  await recipient.go(link)
  await open(recipient)
  await opened(recipient)
  await recipient.page.locator('#login-user').waitFor()
  assert.equal(await recipient.page.locator('#login-user').textContent(), login.user)
  silent(note, ...Object.values(login), new URL(link).hash.slice(1))
})

// large has more than one piece, and its text at the beginning, at the end of the first piece, and at the end.
function large(text) {
  const all = randomBytes(9 << 20)
  for (const at of [0, (8 << 20) - 700, (8 << 20) - 40, all.length - Buffer.byteLength(text)]) all.write(text, at)
  return all
}

for (const [what, buffer] of [['small', Buffer.from], ['large', large]]) {
  test(`of ${what} files nothing is sent in clear`, async (t) => {
    const silent = listen()
    const { guest: sender } = await arriveNew(scene, t)
    const recipient = await scene.guest(t)
    const [text, note, name, type, content, other] = ['text', 'note', 'name', 'type', 'content', 'other'].map(marked)
    const files = [
      { name: `${name}.txt`, mimeType: `text/x-${type.replaceAll(/\W/g, '-')}`, buffer: buffer(content) },
      { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from(other) },
    ]
    const begun = heard().length
    await sender.go('/')
    await fillPush(sender, { kind: 'file', payload: text, encrypt: true, note, files })
    await sendPush(sender)
    const link = await madeLink(sender)
    await recipient.go(link)
    await open(recipient)
    await opened(recipient)
    assert.deepEqual(await recipient.page.locator('.files .name').allTextContents(), files.map((file) => file.name))
    const pieces = heard().slice(begun).filter(({ head }) => /\nupload-offset\n/i.test(head.toString('latin1')))
    assert.equal(pieces.length > 1, what === 'large')
    silent(note, text, name, files[0].mimeType, content, other, new URL(link).hash.slice(1))
  })
}

test('of an answer nothing is sent in clear', async (t) => {
  const silent = listen()
  const { guest: owner } = await arriveNew(scene, t)
  const asked = marked('question')
  const { link, own } = await askFor(owner, { text: asked, encrypt: true })
  const [text, name, content] = ['text', 'name', 'content'].map(marked)
  const sender = await scene.guest(t)
  await answer(sender, link, { text, files: [{ name, mimeType: 'text/plain', buffer: Buffer.from(content) }] })
  await sent(sender)
  silent(asked, text, name, content, new URL(link).hash.slice(1), new URL(own).hash.slice(1))
})

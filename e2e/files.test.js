import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'

import { arriveSignedIn, chooseKind, fillPush, madeLink, sendPush, tokenOf } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({
  PUSHBOX_FILES_MAX_FILE_SIZE: '32MiB',
  PUSHBOX_FILES_MAX_FILE_UPLOADS: '3',
})

// arrive opens the form for files as a signed-in guest.
async function arrive(t) {
  const account = await scene.account()
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, account)
  await guest.go('/')
  await chooseKind(guest, 'file')
  return { guest, account }
}

const file = (name, content = `in ${name}`) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
const chosen = async (guest) =>
  guest.page
    .getByRole('list', { name: say('create_files_chosen') })
    .locator('.name')
    .allTextContents()
const filesOf = async (link) => (await (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).json()).files

// drop drops files on the page, as if from another window.
async function drop(guest, ...files) {
  const carried = await guest.page.evaluateHandle((all) => {
    const transfer = new DataTransfer()
    for (const { name, text } of all) transfer.items.add(new File([text], name, { type: 'text/plain' }))
    return transfer
  }, files)
  for (const event of ['dragenter', 'dragover', 'drop'])
    await guest.page.locator('h1').dispatchEvent(event, { dataTransfer: carried })
}

// paste pastes a file as a browser does, with or without a text beside it.
async function paste(guest, name, text) {
  await guest.page.evaluate(
    ([name, text]) => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['pasted'], name))
      if (text) clipboardData.setData('text/plain', text)
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }))
    },
    [name, text],
  )
}

test('files that are dropped or pasted anywhere change the kind', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  await guest.go('/')
  await paste(guest, 'picture of the text.png', 'a text')
  assert.equal(await guest.page.locator('#kind-text').isChecked(), true)
  await paste(guest, 'screenshot.png')
  assert.equal(await guest.page.locator('#kind-file').isChecked(), true)
  await chooseKind(guest, 'qr')
  await drop(guest, { name: 'dropped.txt', text: 'x' })
  assert.deepEqual(await chosen(guest), ['screenshot.png', 'dropped.txt'])
  await guest.page.getByText(say('create_files_more')).waitFor()
  await sendPush(guest)
  assert.equal((await filesOf(await madeLink(guest))).length, 2)
})

test('files that are dropped by an anonymous client lead to the sign-in', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await drop(guest, { name: 'dropped.txt', text: 'x' })
  await guest.page.getByText(say('create_files_need_account')).waitFor()
  assert.equal(await guest.page.getByText(say('create_files_need_typed')).isVisible(), false)
  await guest.page.locator('main').getByRole('link', { name: say('create_sign_in') }).click()
  await guest.wholePage({ name: say('sign_in_title') })
  const { email, password } = await scene.account()
  await guest.page.getByLabel(say('sign_in_email')).fill(email)
  await guest.page.getByLabel(say('sign_in_password'), { exact: true }).fill(password)
  await guest.press(say('sign_in_go'), guest.page.locator('main'))
  await guest.page.locator('#kind-file:checked').waitFor({ state: 'attached' })
  assert.equal(await guest.page.locator('.drop').isVisible(), true)
})

test('an address leads to the form for files, with sizes in its language', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
  await guest.go('/?kind=file&lang=fr')
  await guest.page.waitForFunction(() => document.activeElement.id === 'files')
  await guest.page.locator('#files').setInputFiles([file('a.txt', 'x'.repeat(1536))])
  assert.equal(await guest.page.locator('#chosen .size').textContent(), '1,5\u00a0Kio')
  assert.match(await guest.page.locator('#files-hint').innerText(), /32\sMio/)
})

test('files are dropped, picked, removed and sent', async (t) => {
  const { guest } = await arrive(t)
  await drop(guest, { name: 'dropped.txt', text: 'by drag and drop' }, { name: 'unwanted.txt', text: 'no' })
  await fillPush(guest, { files: [file('picked.txt')] })
  assert.deepEqual(await chosen(guest), ['dropped.txt', 'unwanted.txt', 'picked.txt'])
  await guest.press(say('create_file_remove', { name: 'unwanted.txt' }))
  assert.deepEqual(await chosen(guest), ['dropped.txt', 'picked.txt'])
  await sendPush(guest)
  const files = await filesOf(await madeLink(guest))
  assert.deepEqual(
    files.map(({ filename }) => filename),
    ['dropped.txt', 'picked.txt'],
  )
  assert.equal(await (await fetch(files[0].url)).text(), 'by drag and drop')
})

test('an upload shows its progress, can be stopped, and sent again', async (t) => {
  const { guest, account } = await arrive(t)
  await fillPush(guest, {
    files: [{ name: 'large.bin', mimeType: 'application/octet-stream', buffer: randomBytes(8 << 20) }],
  })
  const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 1 << 16 }
  await guest.devtools.send('Network.enable')
  await guest.devtools.send('Network.emulateNetworkConditions', slow)
  await sendPush(guest)
  const progress = guest.page.getByRole('progressbar')
  await progress.waitFor()
  await guest.page.waitForFunction(() => document.querySelector('progress').value > 0)
  assert.ok((await progress.evaluate((el) => el.value / el.max)) < 1)
  await guest.press(say('create_cancel'))
  await guest.page.getByRole('status').getByText(say('create_stopped')).waitFor()
  assert.equal(await progress.isVisible(), false)
  assert.deepEqual(await scene.pushbox.active(account), [])
  assert.deepEqual(await chosen(guest), ['large.bin'])
  await guest.devtools.send('Network.emulateNetworkConditions', { ...slow, uploadThroughput: -1 })
  await sendPush(guest)
  const [{ size }] = await filesOf(await madeLink(guest))
  assert.equal(size, 8 << 20)
})

// Sends a large file slowly, and returns it with what changes the connection.
async function sendSlowly(guest) {
  const content = randomBytes(20 << 20)
  await fillPush(guest, { files: [{ name: 'large.bin', mimeType: 'application/octet-stream', buffer: content }], payload: 'two\nlines' })
  await guest.devtools.send('Network.enable')
  const connect = (uploadThroughput, offline = false) =>
    guest.devtools.send('Network.emulateNetworkConditions', { offline, latency: 0, downloadThroughput: -1, uploadThroughput })
  await connect(2 << 20)
  await sendPush(guest)
  await guest.page.waitForFunction(() => document.querySelector('progress').value > 0.45) // in the second piece
  return { content, connect }
}

async function wantSent(guest, content) {
  const link = await madeLink(guest)
  const push = await (await fetch(`${scene.pushbox.url}/api/v2/pushes/${tokenOf(link)}`)).json()
  assert.equal(push.payload, 'two\nlines')
  const [{ url, filename, content_type }] = push.files
  assert.deepEqual([filename, content_type], ['large.bin', 'application/octet-stream'])
  assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content))
}

test('a large upload continues where it was paused', async (t) => {
  const { guest, account } = await arrive(t)
  const { content, connect } = await sendSlowly(guest)
  await guest.press(say('create_pause'))
  const resume = guest.page.getByRole('button', { name: say('create_resume') })
  await resume.waitFor()
  await connect(-1)
  const at = await guest.page.locator('progress').evaluate((el) => el.value)
  assert.ok(at > 0.4 && at < 1, at)
  assert.deepEqual(await scene.pushbox.active(account), [])
  await resume.click()
  await wantSent(guest, content)
})

test('a large upload continues when its connection is back', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(/ERR_INTERNET_DISCONNECTED/)
  const { content, connect } = await sendSlowly(guest)
  await connect(-1, true)
  await guest.page.getByText(say('create_lost')).waitFor()
  await connect(-1)
  await wantSent(guest, content)
})

test('a large upload is stopped while it is paused', async (t) => {
  const { guest, account } = await arrive(t)
  await sendSlowly(guest)
  await guest.press(say('create_pause'))
  await guest.press(say('create_cancel'))
  await guest.page.getByRole('status').getByText(say('create_stopped')).waitFor()
  assert.deepEqual(await scene.pushbox.active(account), [])
  assert.deepEqual(await chosen(guest), ['large.bin'])
  await sendPush(guest)
  await guest.page.getByRole('button', { name: say('create_pause') }).waitFor() // as it was at first
})

test('a large upload that is stopped without a connection frees its room as soon as there is one', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(/ERR_INTERNET_DISCONNECTED/)
  const { connect } = await sendSlowly(guest)
  await connect(-1, true)
  await guest.page.getByText(say('create_lost')).waitFor()
  await guest.press(say('create_cancel'))
  await guest.page.getByRole('status').getByText(say('create_stopped')).waitFor()
  const freed = guest.page.waitForResponse((response) => response.request().headers()['upload-offset'] === 'none')
  await connect(-1)
  assert.equal((await freed).status(), 202)
})

test('too many or too large files are reported before they are sent', async (t) => {
  const { guest, account } = await arrive(t)
  const posts = () => guest.guard.requests.entries.filter(({ method, kind }) => method === 'POST' && kind === 'xhr').length
  await fillPush(guest, { files: ['1', '2', '3', '4'].map((name) => file(name)) })
  await sendPush(guest)
  await guest.page
    .getByRole('alert')
    .getByText(say('create_bad_files', { max: 3 }))
    .waitFor()
  await guest.go('/')
  await chooseKind(guest, 'file')
  await guest.page.evaluate(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([new Uint8Array((32 << 20) + 1)], 'too large.bin'))
    document.querySelector('#files').files = transfer.files
    document.querySelector('#files').dispatchEvent(new Event('change', { bubbles: true }))
  })
  await sendPush(guest)
  await guest.page
    .getByRole('alert')
    .getByText(say('create_file_too_large', { max: '32 MiB' }))
    .waitFor()
  assert.equal(posts(), 0)
  assert.deepEqual(await scene.pushbox.active(account), [])
})

test('a file push without files is reported, and the form keeps its values', async (t) => {
  const { guest } = await arrive(t)
  guest.foresee(422)
  await fillPush(guest, { payload: 'a word with them', passphrase: 'open sesame' })
  await sendPush(guest)
  await guest.page.getByRole('alert').getByText(say('create_bad_no_files')).waitFor()
  assert.equal(await guest.page.locator('#payload').inputValue(), 'a word with them')
  assert.equal(await guest.page.locator('#passphrase').inputValue(), 'open sesame')
  await fillPush(guest, { files: [file('a.txt')] })
  await sendPush(guest)
  await madeLink(guest)
})

test('a form keeps its chosen files after its session ended', async (t) => {
  const { guest, account } = await arrive(t)
  await fillPush(guest, { files: [file('a.txt')] })
  const cookies = await guest.context.cookies()
  await guest.context.clearCookies()
  guest.foresee(401, 403, 422)
  await sendPush(guest)
  await guest.page.getByRole('alert').first().waitFor()
  assert.deepEqual(await scene.pushbox.active(account), [])
  assert.deepEqual(await chosen(guest), ['a.txt'])
  await guest.context.addCookies(cookies)
})

for (const script of [true, false]) {
  test(`files are downloaded from the page${script ? ', with progress' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const sent = [
      { name: '報告 "1".txt', content: 'a report' },
      { name: 'large.bin', content: randomBytes(3 << 20) },
    ]
    await guest.go(scene.link(await scene.pushbox.push(...sent)))
    await guest.press(say('step_open'))
    await guest.wholePage({ name: say('reveal_files') })
    assert.deepEqual(await guest.page.locator('.files .size').allTextContents(), ['8\u00a0B', '3\u00a0MiB'])
    for (const { name, content } of sent) {
      const download = await guest.download(() =>
        guest.page.getByRole('link', { name: say('reveal_download_name', { name }), exact: true }).click(),
      )
      const { state, filePath } = await download.end()
      assert.equal(state, 'completed')
      assert.equal(path.basename(filePath), name.replaceAll('"', '_'))
      assert.ok((await readFile(filePath)).equals(Buffer.from(content)), name)
    }
    await guest.wholePage({ name: say('reveal_files') }) // the page stays
  })
}

test('an open page keeps its files available, on the last view too', async (t) => {
  const guest = await scene.guest(t)
  await guest.page.clock.install()
  const form = new FormData()
  form.append('push[files][]', new Blob(['kept']), 'kept.txt')
  form.append('push[expire_after_views]', '1')
  await guest.go(scene.link(await scene.pushbox.send(form)))
  await guest.press(say('step_open'))
  await guest.page.getByText(say('reveal_last_files')).waitFor()
  const before = guest.guard.requests.mark()
  for (let i = 0; i < 3; i++) {
    const mark = guest.guard.requests.mark()
    await guest.page.clock.runFor(181_000)
    await guest.guard.requests.first('a renewal', ({ url }) => new URL(url).pathname.startsWith('/d/'), mark)
  }
  assert.ok(guest.guard.requests.entries.slice(before).length >= 3)
  const download = await guest.download(() =>
    guest.page.getByRole('link', { name: say('reveal_download_name', { name: 'kept.txt' }) }).click(),
  )
  assert.equal((await download.end()).state, 'completed')
})

for (const script of [true, false]) {
  test(`all files come as one archive${script ? '' : ', without scripts'}`, async (t) => {
    const guest = await scene.guest(t, { script })
    const form = new FormData()
    form.append('push[files][]', new Blob(['first']), 'a.txt')
    form.append('push[files][]', new Blob(['second']), 'a.txt')
    await guest.go(scene.link(await scene.pushbox.send(form)))
    await guest.press(say('step_open'))
    const download = await guest.download(() =>
      guest.page.getByRole('link', { name: say('reveal_download_all'), exact: true }).click(),
    )
    const { state, filePath } = await download.end()
    assert.equal(state, 'completed')
    assert.equal(path.basename(filePath), 'files.zip')
    const content = await readFile(filePath, 'latin1')
    for (const part of ['a.txt', 'a (2).txt', 'first', 'second']) assert.ok(content.includes(part), part)
  })
}

test('a file that was downloaded is marked', async (t) => {
  const guest = await scene.guest(t)
  await guest.go(scene.link(await scene.pushbox.push({ name: 'one.txt', content: 'x' })))
  await guest.press(say('step_open'))
  const done = guest.page.locator('.files').getByText(say('reveal_download_done'))
  assert.equal(await done.isVisible(), false)
  const download = await guest.download(() => guest.page.getByRole('link', { name: say('reveal_download_name', { name: 'one.txt' }) }).click())
  assert.equal((await download.end()).state, 'completed')
  await done.waitFor()
})

test('the page reports a file that is no longer available', async (t) => {
  const guest = await scene.guest(t)
  const push = await scene.pushbox.push({ name: 'gone.txt', content: 'x' })
  await guest.go(scene.link(push))
  await guest.press(say('step_open'))
  await guest.wholePage({ name: say('reveal_files') })
  await scene.pushbox.expire(push)
  guest.foresee(404)
  await guest.page.getByRole('link', { name: say('reveal_download_name', { name: 'gone.txt' }) }).click()
  await guest.page.getByRole('alert').getByText(say('reveal_download_failed')).waitFor()
})

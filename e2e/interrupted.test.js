import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { setScene } from './lib/scene.js'

const scene = setScene({ PUSHBOX_LIMITS_STALL_TIMEOUT: '10s' })

// Too large for all buffers on the way, and a slow download of it takes more than a minute.
const file = { name: 'large.bin', content: randomBytes(40 << 20) }
const slowly = 512 << 10

// begin makes a visitor download the file. answer then waits for the log line of a
// download that ended with a status, complete or not.
async function begin(visitor) {
  const pushed = await scene.pushbox.push(file)
  const { files: [{ url }] } = await scene.pushbox.show(pushed)
  const before = scene.pushbox.log.mark()
  await visitor.slowDown(slowly)
  const download = await visitor.download(() => visitor.navigate(url))
  await download.moving()
  const answer = (status) => scene.pushbox.log.first(`a download answered with ${status}`, (line) =>
    line.route === 'download' && line.status === status, before)
  return { pushed, download, answer }
}

// part fails unless an answer was part of the file.
function part({ bytes }) {
  assert.ok(bytes > 0 && bytes < file.content.length, `${bytes} bytes were sent`)
}

test('a download fails when its push is deleted meanwhile', async (t) => {
  const visitor = await scene.visit(t)
  const { pushed, download, answer } = await begin(visitor)
  await scene.pushbox.expire(pushed)
  part(await answer(200))
  await answer(404) // the browser tries to go on
  assert.equal((await download.end()).state, 'canceled')
  assert.equal((await visitor.saved()).includes(file.name), false)
})

test('a download that was paused for longer than the server waits resumes', async (t) => {
  const visitor = await scene.visit(t)
  const { download, answer } = await begin(visitor)
  await visitor.choose('Pause')
  part(await answer(200)) // the server gives up
  await visitor.choose('Resume')
  const { state, filePath } = await download.end()
  assert.equal(state, 'completed')
  assert.ok((await readFile(filePath)).equals(file.content))
  part(await answer(206))
})

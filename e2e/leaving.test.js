import assert from 'node:assert/strict'
import { test } from 'node:test'

import { openPush, opened, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({})

const views = async (push) => (await scene.pushbox.audit(push)).views

for (const step of [true, false]) {
  test(`going back and forward and loading again brings nothing back and counts nothing, ${step ? 'with' : 'without'} the step`, async (t) => {
    const guest = await scene.guest(t)
    const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: step })
    const hidden = async (when) => {
      await guest.page.getByRole('heading', { level: 1, name: say('step_title') }).waitFor()
      assert.equal((await guest.page.content()).includes('not twice'), false, when)
      assert.equal(await views(push), 1, when)
    }
    await openPush(scene, guest, push)
    await opened(guest)
    assert.equal(await unveil(guest), 'not twice')
    await guest.page.reload()
    await hidden('loaded again')
    await guest.press(say('step_open'))
    await opened(guest)
    assert.equal(await views(push), 2)
  })

  test(`leaving and coming back brings nothing back and counts nothing, ${step ? 'with' : 'without'} the step`, async (t) => {
    const guest = await scene.guest(t)
    const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: step })
    await openPush(scene, guest, push)
    await opened(guest)
    await guest.go('/')
    await guest.page.goBack({ waitUntil: 'commit' })
    await guest.page.getByRole('heading', { level: 1, name: say('step_title') }).waitFor()
    assert.equal((await guest.page.content()).includes('not twice'), false)
    await guest.page.goForward({ waitUntil: 'commit' })
    await guest.page.goBack({ waitUntil: 'commit' })
    await guest.page.getByRole('heading', { level: 1, name: say('step_title') }).waitFor()
    assert.equal((await guest.page.content()).includes('not twice'), false)
    assert.equal(await views(push), 1)
  })
}

// Chromium keeps a page that was got by GET for some minutes after it was left,
// no-store or not, and shows it again. Only a script can take the secret off it.
test('without scripts, coming back to a text without the step counts nothing', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: false })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.go('/users/sign_in')
  await guest.page.goBack({ waitUntil: 'commit' })
  await guest.page.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await views(push), 1)
})

test('without scripts, coming back to what a button opened shows nothing: the browser asks first', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice' })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.go('/users/sign_in')
  await assert.rejects(guest.page.goBack({ waitUntil: 'commit' }), /ERR_CACHE_MISS/)
  assert.equal(await guest.page.getByText('not twice').count(), 0)
  assert.equal(await views(push), 1)
})

test('without scripts, loading a text without the step again counts nothing', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: false })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.page.reload()
  await guest.page.getByRole('heading', { level: 1, name: say('step_title') }).waitFor()
  assert.equal(await views(push), 1)
})

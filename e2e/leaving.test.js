import assert from 'node:assert/strict'
import { test } from 'node:test'

import { openPush, opened, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const scene = setScene({})

const views = async (push) => (await scene.pushbox.audit(push)).views

for (const step of [true, false]) {
  test(`going back and forward and reloading shows no secret again and counts no view, ${step ? 'with' : 'without'} the step`, async (t) => {
    const guest = await scene.guest(t)
    const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: step })
    const hidden = async (when) => {
      await guest.wholePage({ level: 1, name: say('step_title') })
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
    assert.equal(await views(push), 1) // the same view
  })

  test(`leaving and returning shows no secret again and counts no view, ${step ? 'with' : 'without'} the step`, async (t) => {
    const guest = await scene.guest(t)
    const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: step })
    await openPush(scene, guest, push)
    await opened(guest)
    await guest.go('/')
    await guest.page.goBack({ waitUntil: 'commit' })
    await guest.wholePage({ level: 1, name: say('step_title') })
    assert.equal((await guest.page.content()).includes('not twice'), false)
    await guest.page.goForward({ waitUntil: 'commit' })
    await guest.wholePage({ level: 1, name: say('create_heading') }) // until then there is no page to leave
    await guest.page.goBack({ waitUntil: 'commit' })
    await guest.wholePage({ level: 1, name: say('step_title') })
    assert.equal((await guest.page.content()).includes('not twice'), false)
    assert.equal(await views(push), 1)
  })
}

// Chromium keeps a page from a GET for some minutes after it was left, in spite of
// no-store, and shows it again. Only a script can remove the secret from it.
test('without scripts, returning to a text without the step counts no view', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: false })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.go('/users/sign_in')
  await guest.page.goBack({ waitUntil: 'commit' })
  await guest.wholePage({ level: 1 })
  assert.equal(await views(push), 1)
})

test('without scripts, returning to a text opened by the button shows nothing: the browser asks first', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice' })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.go('/users/sign_in')
  await assert.rejects(guest.page.goBack({ waitUntil: 'commit' }), /ERR_CACHE_MISS/)
  assert.equal(await guest.page.getByText('not twice').count(), 0)
  assert.equal(await views(push), 1)
})

test('without scripts, reloading a text without the step counts no view', async (t) => {
  const guest = await scene.guest(t, { script: false })
  const push = await scene.pushbox.create({ payload: 'not twice', retrieval_step: false })
  await openPush(scene, guest, push)
  await opened(guest)
  await guest.page.reload()
  await guest.wholePage({ level: 1, name: say('step_title') })
  assert.equal(await views(push), 1)
})

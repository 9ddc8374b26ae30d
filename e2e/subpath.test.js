import assert from 'node:assert/strict'
import { test } from 'node:test'

import { chooseKind, fillPush, madeLink, opened, sendPush, unveil } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

// A server with its pages below a path, and with a public listener.
const base = '/tools/push'
const scene = setScene({ PUSHBOX_BASE_PATH: base, PUSHBOX_PUBLIC_LISTEN: '127.0.0.1:0' }, {}, { empty: true })

// outside is the URL of the public listener.
async function outside() {
  const { public_address } = await scene.pushbox.log.first('where it listens', ({ message }) => message === 'listening')
  return `http://${public_address}`
}

test('a text and a file are sent below a path, and opened and deleted at the public listener', async (t) => {
  const account = await scene.pushbox.account('ann@example.com')
  const guest = await scene.guest(t)
  await guest.go(`${base}/users/sign_in`)
  await guest.page.getByLabel(say('sign_in_email')).fill(account.email)
  await guest.page.getByLabel(say('sign_in_password'), { exact: true }).fill(account.password)
  await guest.page.getByLabel(say('sign_in_password'), { exact: true }).press('Enter')
  await guest.page.getByRole('link', { name: say('frame_pushes'), exact: true }).waitFor()
  await chooseKind(guest, 'file') // which a script sends
  await fillPush(guest, {
    payload: 'what goes with it',
    files: [{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('in the file') }],
  })
  await sendPush(guest)
  const link = new URL(await madeLink(guest))
  assert.ok(link.href.startsWith(`${guest.at}${base}/p/`))

  const at = await outside()
  const other = await scene.guest(t, { at })
  other.foresee(404)
  assert.equal((await other.go(`${base}/`)).status(), 404)
  await other.go(link.pathname)
  assert.equal(await other.page.getByRole('navigation').count(), 0)
  await other.press(say('step_open'))
  await opened(other)
  assert.equal(await unveil(other), 'what goes with it')
  const [download] = await Promise.all([
    other.page.waitForEvent('download'),
    other.page.getByRole('link', { name: say('reveal_download_name', { name: 'a.txt' }) }).click(),
  ])
  assert.equal(download.suggestedFilename(), 'a.txt')
  await other.page.getByText(say('reveal_delete'), { exact: true }).click()
  await other.press(say('reveal_delete_yes'))
  await other.wholePage({ name: say('reveal_deleted_title') })
  assert.equal((await other.go(link.pathname)).status(), 404)
})

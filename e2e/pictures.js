// Takes the pictures of README.md and docs/install.md from the running program, in both themes:
//
//     npm run pictures --prefix e2e
//
// They change with each run in their times and links, so take new ones only when the pages have changed.

import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import path from 'node:path'
import { test } from 'node:test'

import { arriveSignedIn, fillPush, madeLink, openPush, sendPush } from './lib/acts.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const folder = fileURLToPath(new URL('../docs/pictures', import.meta.url))
const desk = { width: 1280, height: 720 }
const phone = { width: 390, height: 760 }
const secret = 'The password of the staging database:\n\ncorrect-horse-battery-staple'

const scene = setScene()

async function picture({ page }, name, size = desk) {
  await mkdir(folder, { recursive: true })
  await page.setViewportSize(size)
  await page.mouse.move(0, 0)
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(() => document.activeElement?.blur())
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) })
  }
}

test('the sender, the receipt and the recipient', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/')
  await fillPush(guest, { payload: secret })
  await picture(guest, 'sender')
  await picture(guest, 'phone', phone)
  await guest.page.setViewportSize(desk)
  await sendPush(guest)
  await madeLink(guest)
  await picture(guest, 'receipt')
  await openPush(scene, guest, await scene.pushbox.create({ payload: secret, expire_after_views: 5 }))
  await guest.page.getByText('correct-horse').first().waitFor()
  await picture(guest, 'recipient')
})

test('the list of an account, and the administration', async (t) => {
  const guest = await scene.guest(t)
  const account = await scene.administrator()
  await arriveSignedIn(guest, account)
  const names = ['VPN access of the new laptop', 'Licence key', 'Wi-Fi of the office', 'Certificate for mail', 'Backup password', 'API key of the shop']
  for (const [i, name] of names.entries()) {
    const push = await scene.pushbox.create({ payload: secret, name, expire_after_views: 5 }, account)
    for (let views = 0; views < i % 3; views++) await scene.pushbox.show(push)
  }
  await guest.page.getByRole('link', { name: say('frame_pushes'), exact: true }).click()
  await guest.page.getByText(names[0]).waitFor()
  await picture(guest, 'list')
  await guest.go('/admin')
  await picture(guest, 'administrator')
})

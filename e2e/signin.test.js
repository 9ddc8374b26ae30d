import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { arriveSignedIn } from './lib/acts.js'
import { look } from './lib/look.js'
import { Office } from './lib/provider.js'
import { setScene } from './lib/scene.js'
import { say } from './lib/words.js'

const office = await Office.open()
const scene = setScene(office.settings)
after(() => office.close())

const name = 'The Office'
// visit adds a visitor, who may also go to the provider.
async function visit(t, options = {}) {
  office.serve(scene.secure.url, scene.pushbox.url)
  return scene.guest(t, { home: [scene.secure.url, office.url], ...options })
}

const withOffice = (guest) => guest.page.getByRole('link', { name: say('sign_in_with', { name }) })
const path = (guest) => new URL(guest.page.url()).pathname

async function signInThere(guest) {
  await withOffice(guest).click()
  await guest.press('Continue as Pat')
}

for (const script of [true, false]) {
  const how = script ? '' : ', without scripts'

  test(`a person signs in at a provider, comes back to the wanted page, and signs out at both${how}`, async (t) => {
    const guest = await visit(t, { script })
    await guest.go('/users/token')
    assert.equal(path(guest), '/users/sign_in')
    await signInThere(guest)
    await guest.page.waitForURL('**/users/token')
    assert.match(await guest.page.locator('.menu').first().textContent(), /pat@example\.com/)
    assert.equal(await guest.page.locator('#password').count(), 0)

    await guest.page.locator('.menu summary').first().click()
    await guest.press(say('frame_sign_out'))
    await guest.page.getByText(say('notice_signed_out_here', { name })).waitFor()
    await guest.page.getByRole('link', { name: say('notice_sign_out_there', { name }) }).click()
    await guest.press('Leave the Office')
    await guest.page.waitForURL('**/users/sign_in*')
    await withOffice(guest).click()
    await guest.page.getByRole('button', { name: 'Continue as Pat' }).waitFor() // it does not know Pat any more
  })
}

test('a person who leaves the provider is signed out here', async (t) => {
  const guest = await visit(t)
  await guest.go('/users/sign_in')
  await signInThere(guest)
  await guest.page.waitForURL(`${scene.secure.url}/`)
  await guest.go(`${office.url}/session/end`)
  await guest.press('Leave the Office')
  await guest.page.waitForURL(`${office.url}/session/end/success*`)
  await guest.go('/users/sessions')
  assert.equal(path(guest), '/users/sign_in')
})

test('an answer of the provider is refused in a browser that did not ask for it', async (t) => {
  const guest = await scene.guest(t)
  await guest.go('/users/oidc/office/callback?code=stolen&state=stolen')
  assert.equal(path(guest), '/users/sign_in')
  assert.equal(guest.page.url().includes('stolen'), false)
  await guest.page.getByText(say('notice_provider_late')).waitFor()
})

for (const width of [320, 1280]) {
  for (const theme of ['light', 'dark']) {
    test(`the page with a provider, ${theme}, ${width} px`, async (t) => {
      const guest = await scene.guest(t, { width, theme })
      await guest.go('/users/sign_in')
      await look(guest, 'sign-in-provider')
      await guest.go('/users/oidc/office/callback')
      await look(guest, 'sign-in-provider-late')
    })
  }
}

test('who has a password signs in with it', async (t) => {
  const guest = await scene.guest(t)
  await arriveSignedIn(guest, await scene.account())
})

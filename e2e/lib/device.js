// Devices with passkeys, and what people do with them.

import { say } from './words.js'

// addDevice gives a guest's browser a device: one that keeps passkeys and verifies its user, or an
// old security key, which does neither.
export async function addDevice(guest, { old = false } = {}) {
  await guest.devtools.send('WebAuthn.enable')
  const { authenticatorId } = await guest.devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: old ? 'u2f' : 'ctap2', transport: old ? 'usb' : 'internal', hasResidentKey: !old, hasUserVerification: !old,
      isUserVerified: !old, automaticPresenceSimulation: true,
    },
  })
  guest.device = authenticatorId
}

// touches says whether the user touches the device as soon as the browser asks.
export const touches = (guest, enabled) => guest.devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: guest.device, enabled })

// addPasskey adds a passkey on the page. A code proves an account that has an app; one that has a
// passkey is proved by that.
export async function addPasskey(guest, name, code) {
  await guest.go('/users/mfa')
  const folded = guest.page.locator('details:has(#passkey-name) > summary')
  if (await folded.count()) await folded.click()
  await guest.page.getByLabel(say('passkey_name_new')).fill(name)
  await guest.page.locator('#passkey-password').fill('correct horse battery')
  if (code) await guest.page.locator('[name=proof_code]').fill(code)
  await guest.press(say('passkey_add'))
}

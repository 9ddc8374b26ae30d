// The page of an opened login: it shows the one-time code of the seed (RFC 6238).

const one = (selector) => document.querySelector(selector)
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function fromBase32(text) {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g), (octet) => parseInt(octet, 2))
}

async function showCode(key) {
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(Math.floor(Date.now() / 30_000)))
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter.buffer))
  const code = mac.getUint32(mac.getUint8(19) & 15) & 0x7fffffff
  const shown = one('#login-code')
  if (shown) shown.textContent = String(code % 1_000_000).padStart(6, '0') // the page may have been left
}

// Shows the code, and the next one in its time. Plain HTTP has no crypto.subtle.
export async function follow() {
  const seed = (one('#login-seed')?.textContent ?? '').toUpperCase().replace(/[\s=-]/g, '')
  if (!crypto.subtle || !/^[A-Z2-7]{16,}$/.test(seed)) return // or there is none
  const key = await crypto.subtle.importKey('raw', fromBase32(seed), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign'])
  await showCode(key)
  one('#login-code')?.closest('[hidden]').removeAttribute('hidden')
  setInterval(showCode, 1000, key)
}

// Where the push is encrypted, encrypted.js fills the fields first.
if (!one('[data-line]')) follow()

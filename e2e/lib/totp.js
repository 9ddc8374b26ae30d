import { createHmac } from 'node:crypto'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

// fromBase32 reads RFC 4648 base32, with spaces or without.
function fromBase32(text) {
  let bits = ''
  for (const letter of text.toUpperCase().replaceAll(/[\s=]/g, '')) {
    bits += alphabet.indexOf(letter).toString(2).padStart(5, '0')
  }
  return Buffer.from(bits.match(/.{8}/g).map((octet) => parseInt(octet, 2)))
}

// codeOf returns the six-digit code that an app shows for a secret (RFC 6238), now, some steps
// of 30 seconds later, or at another time.
export function codeOf(secret, later = 0, at = Date.now()) {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000) + later))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const from = mac.at(-1) & 15
  return String((mac.readUInt32BE(from) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

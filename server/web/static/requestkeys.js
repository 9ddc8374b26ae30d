// The keys of a request for secrets, and the wrapped keys of its answers, as docs/end-to-end.md
// describes them.

const { Failure, cipher, decode, decrypt, digest, encode, encrypt, join, read, write } = await import(document.querySelector('[data-module]').dataset.module)
const { subtle } = crypto
const size = 32 // of private keys, and of what they protect
const once = new Uint8Array(12) // the nonce, as each key encrypts once

// The keys of a request are those of P-256, and behind them those of X25519 where the
// browser has it.
const curves = {
  p256: { number: 2, length: 65, how: { name: 'ECDH', namedCurve: 'P-256' }, at: 0, jwk: (key) => ({ kty: 'EC', crv: 'P-256', x: encode(key.slice(1, 33)), y: encode(key.slice(33)) }) },
  x25519: { number: 1, length: 32, how: { name: 'X25519' }, at: size, jwk: (key) => ({ kty: 'OKP', crv: 'X25519', x: encode(key) }) },
}
const rawOf = async (key) => new Uint8Array(await subtle.exportKey('raw', key))

// Makes the keys of a request: adds the public ones to the data of its form, and returns the end of
// its owner's link.
export async function addRequestKeys(data) {
  const privates = []
  for (const [name, { how }] of Object.entries(curves)) {
    try {
      const { privateKey, publicKey } = await subtle.generateKey(how, true, ['deriveBits'])
      privates.push(decode((await subtle.exportKey('jwk', privateKey)).d))
      data.set(`public_key_${name}`, encode(await rawOf(publicKey)))
    } catch (failure) {
      if (name === 'p256') throw failure
      // The browser lacks X25519.
    }
  }
  return `#${await write(join(...privates), 'request key')}`
}

// Returns the private keys in a fragment.
export const requestKeysOf = (fragment) => read(fragment, 'request key', size, 2 * size)

// Returns what stands behind "#" in the link of a request. It binds the public keys to the link:
// a page with other keys does not fit it.
export async function fingerprintOf(publicKeys) {
  const keys = Object.keys(curves).flatMap((name) => publicKeys[name] ? [decode(publicKeys[name])] : [])
  return write((await digest(join(...keys), 'request fingerprint')).slice(0, 16), 'request fingerprint')
}

// Fails with the reason "changed" if the public keys are not those of a link, and as read does
// if its fragment is none.
export async function checkFingerprint(fragment, publicKeys) {
  await read(fragment, 'request fingerprint', 16)
  if (await fingerprintOf(publicKeys).catch(() => '') !== fragment) throw new Failure('changed')
}

// Reports whether the public keys are those of the private keys: then these open what is wrapped
// for each of them.
export async function belong(privates, publicKeys) {
  if (privates.length > size !== Boolean(publicKeys.x25519)) return false
  const key = crypto.getRandomValues(new Uint8Array(size))
  const opens = async (asked) => unwrapKey(privates, asked, await wrapKey(key, asked))
  return opens({ p256: publicKeys.p256 }).then(() => opens(publicKeys)).then(() => true, () => false)
}

async function wrapping(name, own, other, ephemeral, to) {
  const shared = await subtle.deriveBits({ name: curves[name].how.name, public: other }, own, 256)
  return cipher(shared, `wrapped key ${name} `, join(ephemeral, to))
}

// Encrypts the key of an answer to the public keys of a request.
export async function wrapKey(key, publicKeys, made = {}) {
  if (decode(publicKeys.p256)?.length !== curves.p256.length) throw new Failure('not') // some browsers take compressed points, too
  for (const [name, { number, how }] of Object.entries(curves).reverse()) {
    if (name !== 'p256' && !publicKeys[name]) continue
    try {
      const to = decode(publicKeys[name])
      const { publicKey, privateKey } = made[name] ?? await subtle.generateKey(how, true, ['deriveBits'])
      const ephemeral = await rawOf(publicKey)
      const other = await subtle.importKey('raw', to, how, true, [])
      const sealed = await encrypt(await wrapping(name, privateKey, other, ephemeral, to), once, key)
      return encode(join([number], ephemeral, sealed))
    } catch (failure) {
      if (name === 'p256') throw failure
      // The browser lacks X25519.
    }
  }
}

// Decrypts the key of an answer, with the private keys and the public keys of its request.
export async function unwrapKey(privates, publicKeys, wrapped) {
  const bytes = decode(wrapped)
  const fits = ([, { number, length }]) => bytes?.length === 1 + length + size + 16 && bytes[0] === number
  const [name, curve] = Object.entries(curves).find(fits) ?? []
  if (!name) throw new Failure('not')
  try {
    const { length, how, at, jwk } = curve
    const ephemeral = bytes.slice(1, 1 + length)
    const to = decode(publicKeys[name])
    const own = await subtle.importKey('jwk', { ...jwk(to), d: encode(privates.slice(at, at + size)) }, how, false, ['deriveBits'])
    const other = await subtle.importKey('raw', ephemeral, how, true, [])
    return await decrypt(await wrapping(name, own, other, ephemeral, to), once, bytes.subarray(1 + length))
  } catch {
    throw new Failure('open')
  }
}

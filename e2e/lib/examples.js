import { readFile } from 'node:fs/promises'
import path from 'node:path'

const read = async (name) => JSON.parse(await readFile(path.resolve(import.meta.dirname, '../../testdata/end-to-end', name), 'utf8'))

// examples returns the pushes that the script must make and read, and what it must refuse.
export const examples = async () => [await read('pushes.json'), await read('refused.json')]

// requestExamples returns the keys of requests that the script must make and read, and what
// it must refuse.
export const requestExamples = () => read('requests.json')

// differing runs on the page that creates pushes, and lists what its script does otherwise
// than the examples have it.
export async function differing([pushes, refused]) {
  const { keyOf, seal, open, encryptFile, decrypting } = await import(document.querySelector('#encrypt').dataset.module)
  const wrong = []
  const same = (name, got, want) => { if (got !== want) wrong.push(`${name}: ${got}, not ${want}`) }
  const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')
  const unhex = (text) => Uint8Array.from(text.match(/../g), (b) => parseInt(b, 16))
  for (const p of pushes) {
    const key = await keyOf(p.fragment)
    same(p.name, hex(key), p.key)
    same(p.name, await seal(key, p.text, p.files, p.nonces.map(unhex)), p.envelope)
    const { text, files } = await open(key, p.envelope)
    same(p.name, text, p.text)
    same(p.name, JSON.stringify(files), JSON.stringify(p.files.map(({ name, type }) => ({ name, type }))))
    for (const [i, f] of p.files.entries()) {
      const plain = Uint8Array.from({ length: f.size }, (_, at) => at % 251)
      const sealed = await encryptFile(key, i + 1, new Blob([plain]), undefined, unhex(f.prefix))
      same(f.name, sealed.size, f.encrypted_size)
      same(f.name, hex(await crypto.subtle.digest('SHA-256', await sealed.arrayBuffer())), f.encrypted_sha256)
      const read = (blob) => new Response(blob.stream().pipeThrough(decrypting(key, i + 1))).arrayBuffer()
      same(f.name, hex(await read(sealed)), hex(plain))
      const fails = async (name, blob) => same(`${f.name} ${name}`, await read(blob).then(() => 'read', () => 'refused'), 'refused')
      await fails('cut', sealed.slice(0, -1))
      await fails('cut between chunks', sealed.slice(0, 7 + 65552 * Math.floor((f.size - 1) / 65536)))
      await fails('longer', new Blob([sealed, 'x']))
    }
  }
  const reason = (promise) => promise.then(() => 'taken', (failure) => failure.reason)
  for (const [name, text, why] of refused.fragments) same(name, await reason(keyOf(text)), why)
  const key = await keyOf(refused.key)
  for (const [name, text, why] of refused.envelopes) same(name, await reason(open(key, text)), why)
  return wrong
}

// differingKeys runs on the page that creates requests, as differing does on its page.
export async function differingKeys({ made, refused }) {
  const { module, asks } = document.querySelector('#encrypt').dataset
  const { newKey } = await import(module)
  const { belong, checkFingerprint, fingerprintOf, addRequestKeys, requestKeysOf, wrapKey, unwrapKey } = await import(asks)
  const wrong = []
  const same = (name, got, want) => { if (got !== want) wrong.push(`${name}: ${got}, not ${want}`) }
  const hex = (bytes) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')
  const unhex = (text) => Uint8Array.from(text.match(/../g), (b) => parseInt(b, 16))
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  const raw = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))

  // pair makes the ephemeral keys of an example.
  const pair = async (curve, d, bytes) => {
    const [how, jwk] = curve === 'p256'
      ? [{ name: 'ECDH', namedCurve: 'P-256' }, { kty: 'EC', crv: 'P-256', x: base64(bytes.slice(1, 33)), y: base64(bytes.slice(33)) }]
      : [{ name: 'X25519' }, { kty: 'OKP', crv: 'X25519', x: base64(bytes) }]
    return {
      privateKey: await crypto.subtle.importKey('jwk', { ...jwk, d: base64(d) }, how, true, ['deriveBits']),
      publicKey: await crypto.subtle.importKey('jwk', jwk, how, true, []),
    }
  }
  for (const v of made) {
    const own = await requestKeysOf(v.fragment)
    same(v.name, hex(own), v.private.join(''))
    same(v.name, await fingerprintOf(v.public_keys), v.fingerprint)
    for (const { name, public_keys: others } of made) same(`${v.name}, keys ${name}`, await belong(own, others), name === v.name)
    const bytes = raw(v.wrapped)
    const [curve, length] = bytes[0] === 1 ? ['x25519', 32] : ['p256', 65]
    const ephemeral = { [curve]: await pair(curve, unhex(v.ephemeral), bytes.slice(1, 1 + length)) }
    same(v.name, await wrapKey(unhex(v.key), v.public_keys, ephemeral), v.wrapped)
    same(v.name, hex(await unwrapKey(own, v.public_keys, v.wrapped)), v.key)
  }
  const fresh = new Map()
  const end = await addRequestKeys(fresh)
  const publicKeys = { p256: fresh.get('public_key_p256'), x25519: fresh.get('public_key_x25519') }
  const key = newKey()
  const wrapped = await wrapKey(key, publicKeys)
  same('a random key', raw(wrapped)[0], 1)
  same('a random key', hex(await unwrapKey(await requestKeysOf(end.slice(1)), publicKeys, wrapped)), hex(key))

  const reason = (promise) => promise.then(() => 'taken', (failure) => failure.reason)
  for (const [name, text, why] of refused.fragments) same(name, await reason(requestKeysOf(text)), why)
  for (const [name, text] of refused.public_keys) same(name, await wrapKey(key, text).then(() => 'taken', () => 'refused'), 'refused')
  for (const [name, text, why] of refused.fingerprints) same(name, await reason(checkFingerprint(text, made[0].public_keys)), why)
  const own = await requestKeysOf(refused.fragment)
  for (const [name, text, why] of refused.wrapped_keys) same(name, await reason(unwrapKey(own, made[0].public_keys, text)), why)
  return wrong
}

// End-to-end encryption of a push, as docs/end-to-end.md describes it.

const { subtle } = crypto
const label = 'pushbox end-to-end 1 '
const chunk = 65536, tag = 16, nonceLength = 12, prefixLength = 7, keyLength = 32

const toBytes = new TextEncoder()
const toText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const random = (n) => crypto.getRandomValues(new Uint8Array(n))

// A Failure has a reason: "none", "cut" or "later" of a key, "not" or "open" of what it opens.
export class Failure extends Error {
  constructor(reason) {
    super(reason)
    this.reason = reason
  }
}

export function join(...parts) {
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export function encode(bytes) {
  let text = ''
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192))
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '')
}

// Returns nothing for a text that encode does not write.
export function decode(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
    if (encode(bytes) === text) return bytes
  } catch {
    // It is no base64.
  }
}

export const digest = async (keys, purpose) => new Uint8Array(await subtle.digest('SHA-256', join(toBytes.encode(label + purpose), keys)))

const checksum = async (keys, purpose) => (await digest(keys, purpose)).slice(0, 4)

export const newKey = () => random(keyLength)

export const write = async (keys, purpose) => `a${encode(join(keys, await checksum(keys, purpose)))}`

export async function read(fragment, purpose, ...lengths) {
  if (!fragment) throw new Failure('none')
  if (/^[b-z][\w-]{48,}$/.test(fragment)) throw new Failure('later')
  const keys = decode(fragment.slice(1))?.slice(0, -4)
  if (!lengths.includes(keys?.length) || await write(keys, purpose) !== fragment) throw new Failure('cut')
  return keys
}

// Returns what stands behind "#" in the link.
export const fragmentOf = (key) => write(key, 'key')

export const keyOf = (fragment) => read(fragment, 'key', keyLength)

export async function cipher(key, purpose, more = new Uint8Array()) {
  const from = await subtle.importKey('raw', key, 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: join(toBytes.encode(label + purpose), more) }
  return subtle.deriveKey(how, from, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

export const encrypt = async (aes, iv, plain) => new Uint8Array(await subtle.encrypt({ name: 'AES-GCM', iv }, aes, plain))

export async function decrypt(aes, iv, sealed) {
  try {
    return new Uint8Array(await subtle.decrypt({ name: 'AES-GCM', iv }, aes, sealed))
  } catch {
    throw new Failure('open')
  }
}

// Returns the envelope of a text and of files, each with name and type.
export async function seal(key, text, files, nonces = [random(nonceLength), random(nonceLength)]) {
  const section = async (purpose, nonce, plain) => encode(join(nonce, await encrypt(await cipher(key, purpose), nonce, toBytes.encode(plain))))
  const meta = JSON.stringify({ files: files.map(({ name, type }) => ({ name, type })) })
  return `pushbox-end-to-end.1.${await section('metadata', nonces[0], meta)}.${await section('text', nonces[1], text)}`
}

// Returns the text and the files of an envelope.
export async function open(key, envelope) {
  const sections = /^pushbox-end-to-end\.1\.([\w-]{38,})\.([\w-]{38,})$/.exec(envelope)
  if (!sections) throw new Failure('not')
  const section = async (purpose, text) => {
    const bytes = decode(text)
    return toText.decode(await decrypt(await cipher(key, purpose), bytes.subarray(0, nonceLength), bytes.subarray(nonceLength)))
  }
  try {
    const { files } = JSON.parse(await section('metadata', sections[1]))
    const text = await section('text', sections[2])
    if (files.every(({ name }) => name && typeof name === 'string')) return { text, files }
  } catch {
    // It is not what seal writes under this key.
  }
  throw new Failure('open')
}

function nonceOf(prefix, number, last) {
  const nonce = join(prefix, new Uint8Array(nonceLength - prefixLength))
  new DataView(nonce.buffer).setUint32(prefixLength, number)
  nonce[nonceLength - 1] = last
  return nonce
}

// Returns the encrypted form of the file with that number. told gets the bytes that are done.
export async function encryptFile(key, number, file, told = () => {}, prefix = random(prefixLength)) {
  const aes = await cipher(key, `file ${number}`)
  const last = Math.max(0, Math.ceil(file.size / chunk) - 1)
  let parts = [prefix]
  for (let i = 0; i <= last; i++) {
    const plain = await file.slice(i * chunk, (i + 1) * chunk).arrayBuffer()
    parts.push(await encrypt(aes, nonceOf(prefix, i, i === last), plain))
    if (parts.length > 64) parts = [new Blob(parts)] // which the browser can put on the disk
    told(Math.min(file.size, (i + 1) * chunk))
  }
  return new Blob(parts)
}

// Returns a stream that decrypts the file with that number. It fails at its end if the
// file is not whole.
export function decrypting(key, number) {
  let held = new Uint8Array(), aes, prefix, next = 0
  const pass = async (out, sealed, last) => {
    const plain = await decrypt(aes, nonceOf(prefix, next++, last), sealed)
    if (!plain.length && next > 1) throw new Failure('open') // only an empty file has an empty chunk
    out.enqueue(plain)
  }
  return new TransformStream({
    async start() {
      aes = await cipher(key, `file ${number}`)
    },
    async transform(more, out) {
      held = join(held, more)
      if (!prefix && held.length >= prefixLength) {
        prefix = held.slice(0, prefixLength)
        held = held.subarray(prefixLength)
      }
      for (; prefix && held.length > chunk + tag; held = held.subarray(chunk + tag)) await pass(out, held.subarray(0, chunk + tag), false)
    },
    async flush(out) {
      if (!prefix) throw new Failure('open')
      await pass(out, held, true)
    },
  })
}

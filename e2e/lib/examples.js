import { readFile } from 'node:fs/promises'
import path from 'node:path'

const read = async (name) => JSON.parse(await readFile(path.resolve(import.meta.dirname, '../../testdata/end-to-end', name), 'utf8'))

// examples returns the pushes that the script must make and read, and what it must refuse.
export const examples = async () => [await read('pushes.json'), await read('refused.json')]

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

// Finding a text in what was sent, however it was encoded.

import { randomBytes } from 'node:crypto'

const width = 16 // characters that are looked for together
const step = 8 // so that 24 characters in a row are found, wherever they begin

// marked returns a text that is nowhere else, with characters that encodings change.
export const marked = (what) => `${what} ${randomBytes(12).toString('hex')} ä&+ ${randomBytes(12).toString('hex')}`

const utf16be = (text) => Buffer.from(text, 'utf16le').swap16()
const escaped = (text) => text.replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

// texts are the ways to write a text as other text.
const texts = {
  plain: (text) => text,
  'URL-encoded': encodeURIComponent,
  'of a form': (text) => new URLSearchParams({ '': text }).toString().slice(1),
  'JSON-escaped': (text) => escaped(JSON.stringify(text).slice(1, -1)),
  'JSON for HTML': (text) => escaped(JSON.stringify(text).slice(1, -1)).replaceAll('&', '\\u0026'),
  'HTML-escaped': (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&#34;'),
}

// bytes are the ways to write a text as bytes.
const bytes = {
  'UTF-8': (text) => Buffer.from(text),
  'UTF-16LE': (text) => Buffer.from(text, 'utf16le'),
  'UTF-16BE': utf16be,
}

// based returns bytes in base64 as they are found in longer ones, behind some bytes: without the characters that
// depend on what is around them.
function based(all, before, alphabet) {
  const text = Buffer.concat([Buffer.alloc(before), all]).toString('base64').replaceAll('=', '')
  const inside = text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + all.length) * 4) / 3))
  return alphabet === 'base64url' ? inside.replaceAll('+', '-').replaceAll('/', '_') : inside
}

// disguises lists the encodings of a text, each as its name and bytes.
export function disguises(text) {
  const all = []
  for (const [how, write] of Object.entries(texts)) all.push([how, Buffer.from(write(text))])
  for (const [how, encode] of Object.entries(bytes)) {
    const encoded = encode(text)
    all.push([how, encoded])
    for (const before of [0, 1, 2]) {
      for (const alphabet of ['base64', 'base64url']) all.push([`${how} in ${alphabet} after ${before}`, Buffer.from(based(encoded, before, alphabet))])
    }
    for (const hex of [encoded.toString('hex'), encoded.toString('hex').toUpperCase()]) all.push([`${how} in hexadecimal`, Buffer.from(hex)])
  }
  return all
}

// parts are the overlapping parts of a text that are looked for.
function parts(text) {
  const all = []
  for (let at = 0; at < Math.max(1, text.length - width + step); at += step) all.push(text.slice(Math.min(at, Math.max(0, text.length - width)), at + width))
  return all
}

// leaks lists which of these texts, or parts of them, occur in requests, and how. It looks at each request, and at
// all bodies one behind the other, since a form may be sent in pieces.
export function leaks(requests, ...secrets) {
  const heads = Buffer.concat(requests.map(({ head }) => head))
  const bodies = Buffer.concat(requests.flatMap(({ body }) => body))
  const found = new Set(requests.filter(({ head }) => /\ncontent-encoding\n/i.test(head.toString('latin1'))).map(() => 'a compressed body, which cannot be searched'))
  for (const secret of secrets) {
    for (const part of parts(secret)) {
      const different = new Map(disguises(part).map(([how, encoded]) => [encoded.toString('latin1'), [how, encoded]]))
      for (const [how, encoded] of different.values()) {
        for (const [where, all] of [['URLs and headers', heads], ['bodies', bodies]]) {
          if (all.includes(encoded)) found.add(`${secret.split(' ', 1)[0]}, ${how}, in ${where}`)
        }
      }
    }
  }
  return [...found]
}

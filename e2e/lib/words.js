import { readFileSync } from 'node:fs'
import path from 'node:path'

const folder = path.resolve(import.meta.dirname, '../../internal/lang/messages')
const catalogs = {}

// languages are the tags of the languages of the pages.
export const languages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'pl', 'cs', 'sv', 'ja', 'zh']

// spoken is the language of guests, and of what say returns, unless a test names another one.
export let spoken = 'en'

// speak changes it, for the tests that follow.
export function speak(tag) {
  spoken = tag
}

// say returns a message as pages show it.
export function say(key, values = {}, tag = spoken) {
  catalogs[tag] ??= JSON.parse(readFileSync(path.join(folder, `${tag}.json`), 'utf8'))
  const message = catalogs[tag][key]
  if (message === undefined) throw new Error(`there is no message ${key} in ${tag}`)
  const text = typeof message === 'string' ? message : message[new Intl.PluralRules(tag).select(values.count)]
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => values[name])
}

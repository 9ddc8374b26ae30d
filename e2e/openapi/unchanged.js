// Ends with 0 if the tools passed with what they read now: the OpenAPI documents of the program, and the
// files of this folder. tools.test.js keeps what they passed with, in passed.sha256.

import { readFile } from 'node:fs/promises'

import { Pushbox } from '../lib/pushbox.js'
import { digest, passed } from './digest.js'

const pushbox = await Pushbox.start()
try {
  const unchanged = (await digest(pushbox.url)) === (await readFile(passed, 'utf8').catch(() => ''))
  console.log(unchanged ? 'the tools passed with these documents' : 'the documents, or the tools, have changed')
  process.exitCode = unchanged ? 0 : 1
} finally {
  await pushbox.stop()
}

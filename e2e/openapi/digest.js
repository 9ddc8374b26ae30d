import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

const here = import.meta.dirname

// passed is the file with the digest of what the tools passed with.
export const passed = path.join(here, 'passed.sha256')

// digest is that of all that the tools read: the documents of a server, and the files of this folder.
export async function digest(url) {
  const hash = createHash('sha256')
  for (const name of ['v2/openapi', 'v1/openapi', 'v2/openapi-3.0', 'v1/openapi-3.0']) {
    const document = await (await fetch(`${url}/api/${name}.json`)).text()
    hash.update(document.replaceAll(new URL(url).host, '')) // the port is another each time
  }
  for (const file of (await readdir(here, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (file.isFile() && file.name !== path.basename(passed)) hash.update(`${file.name}\n${await readFile(path.join(here, file.name))}`)
  }
  return `${hash.digest('hex')}\n`
}

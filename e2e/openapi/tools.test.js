import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { promisify } from 'node:util'

import { Pushbox } from '../lib/pushbox.js'
import { digest, passed } from './digest.js'

// What tools make of the OpenAPI documents of a running server: of version 2 of the API and of
// version 1, each as OpenAPI 3.1 and as 3.0.

const here = import.meta.dirname
const programs = path.join(here, 'node_modules/.bin')
const minutes = 10 * 60_000 // the Go client may have to be compiled from nothing

let pushbox, account, folder, document, documentV1, older

before(async () => {
  pushbox = await Pushbox.start()
  account = await pushbox.account('tools@example.com')
  folder = await mkdtemp(path.join(tmpdir(), 'pushbox-openapi-'))
  await symlink(path.join(here, 'node_modules'), path.join(folder, 'node_modules'))
  document = await save('v2', 'openapi')
  documentV1 = await save('v1', 'openapi')
  older = [await save('v2', 'openapi-3.0'), await save('v1', 'openapi-3.0')]
})

// save writes a document of a version into a file, and returns its path.
async function save(version, name) {
  const file = path.join(folder, `${name}-${version}.json`)
  const response = await fetch(`${pushbox.url}/api/${version}/${name}.json`)
  await writeFile(file, JSON.stringify(await response.json(), null, 2)) // findings name lines
  return file
}

let failed = false

afterEach((t) => {
  failed ||= !t.passed
})

after(async () => {
  if (pushbox && !failed) await writeFile(passed, await digest(pushbox.url)) // unchanged.js reads it
  await pushbox?.stop()
  if (folder) await rm(folder, { recursive: true })
})

// run runs a program in a folder, and returns what it prints. If it fails, that is the error.
async function run(cwd, program, ...args) {
  const quiet = { NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } // it would call home
  const env = { ...process.env, ...quiet, OPENAPI_SERVER: pushbox.url, OPENAPI_TOKEN: account.token }
  try {
    return (await promisify(execFile)(program, args, { cwd, env, timeout: minutes, maxBuffer: 1 << 24 })).stdout
  } catch (err) {
    throw new Error(`${path.basename(program)}: ${err.message}\n${err.stdout}\n${err.stderr}`)
  }
}

test('a Go client by oapi-codegen speaks to the server', async () => {
  const client = path.join(folder, 'client.gen.go')
  await run(here, 'go', 'tool', 'oapi-codegen', '-generate', 'types,client', '-package', 'openapi', '-o', client, document)
  const overlay = path.join(folder, 'overlay.json')
  await writeFile(overlay, JSON.stringify({ Replace: { [path.join(here, 'client.gen.go')]: client } }))
  await run(here, 'go', 'vet', '-overlay', overlay, '.')
  const said = await run(here, 'go', 'test', '-count=1', '-v', '-overlay', overlay, '.')
  assert.match(said, /^--- PASS: TestAGeneratedClientSpeaksToTheServer/m)
})

test('a TypeScript client by openapi-typescript and openapi-fetch compiles strictly and speaks to the server', async () => {
  await copyFile(path.join(here, 'client.ts'), path.join(folder, 'client.ts'))
  await writeFile(path.join(folder, 'package.json'), '{"type":"module"}')
  await run(folder, path.join(programs, 'openapi-typescript'), document, '-o', 'schema.d.ts')
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes']
  const modules = ['--module', 'nodenext', '--target', 'es2022', '--skipLibCheck', '--types', 'node']
  await run(folder, path.join(programs, 'tsc'), ...strict, ...modules, 'client.ts')
  await run(folder, process.execPath, 'client.js')
})

test('clients of version 1 compile, in Go and TypeScript', async () => {
  const client = path.join(folder, 'client_v1.gen.go')
  await run(here, 'go', 'tool', 'oapi-codegen', '-generate', 'types,client', '-package', 'openapi', '-o', client, documentV1)
  const overlay = path.join(folder, 'overlay_v1.json')
  await writeFile(overlay, JSON.stringify({ Replace: { [path.join(here, 'client.gen.go')]: client } }))
  await run(here, 'go', 'build', '-overlay', overlay, '.')
  await run(folder, path.join(programs, 'openapi-typescript'), documentV1, '-o', 'schema_v1.d.ts')
  await run(folder, path.join(programs, 'tsc'), '--strict', '--noEmit', 'schema_v1.d.ts')
})

test('clients of the documents of OpenAPI 3.0 compile, in Go and TypeScript', async () => {
  for (const [i, each] of older.entries()) {
    const client = path.join(folder, `client_older_${i}.gen.go`)
    await run(here, 'go', 'tool', 'oapi-codegen', '-generate', 'types,client', '-package', 'openapi', '-o', client, each)
    const overlay = path.join(folder, `overlay_older_${i}.json`)
    await writeFile(overlay, JSON.stringify({ Replace: { [path.join(here, 'client.gen.go')]: client } }))
    await run(here, 'go', 'build', '-overlay', overlay, '.')
    await run(folder, path.join(programs, 'openapi-typescript'), each, '-o', `schema_older_${i}.d.ts`)
    await run(folder, path.join(programs, 'tsc'), '--strict', '--noEmit', `schema_older_${i}.d.ts`)
  }
})

test('Redocly finds nothing', async () => {
  for (const each of [document, documentV1, ...older]) {
    const said = await run(folder, path.join(programs, 'redocly'), 'lint', '--config', path.join(here, 'redocly.yaml'), '--format', 'json', each)
    assert.deepEqual(JSON.parse(said).problems.map(({ ruleId, message }) => `${ruleId}: ${message}`), [])
  }
})

test('Spectral finds nothing', async () => {
  await run(folder, path.join(programs, 'spectral'), 'lint', '--ruleset', path.join(here, 'spectral.yaml'), '--fail-severity', 'hint', document, documentV1, ...older)
})

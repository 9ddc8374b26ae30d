// Passkeys: asks the browser for one when a form of the class passkey is sent, and sends what it
// answers along. A form that adds a factor beside others has a field proof, too: for one of those.

const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0))
const toText = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '')

// Reads the options that the server wrote.
function read(options) {
  options.challenge = toBytes(options.challenge)
  if (options.user) options.user.id = toBytes(options.user.id)
  for (const known of options.allowCredentials ?? options.excludeCredentials) known.id = toBytes(known.id)
  return options
}

// Writes a passkey as PublicKeyCredential.toJSON does, which not every browser has yet.
function write({ id, rawId, type, response }) {
  const parts = { transports: response.getTransports?.() }
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (response[name]) parts[name] = toText(response[name])
  }
  return JSON.stringify({ id, rawId: toText(rawId), type, response: parts, clientExtensionResults: {} })
}

let waiting = new AbortController() // for a choice among the suggestions for the address

async function ask(field, mediation) {
  waiting.abort()
  waiting = new AbortController()
  const publicKey = read(JSON.parse(field.dataset.options))
  const what = publicKey.user ? 'create' : 'get'
  field.value = write(await navigator.credentials[what]({ publicKey, mediation, signal: waiting.signal }))
  field.form.requestSubmit()
}

// The field that is still to be filled by the browser, if there is one. A code may take its place.
function missing({ passkey, code, proof, proof_code: proofCode }) {
  if (proof && !proof.value && !proofCode.value) return proof
  if (passkey && !passkey.value && (proofCode || !code?.value)) return passkey
}

for (const form of document.querySelectorAll('.passkey')) {
  const { passkey, proof } = form.elements
  if (!window.PublicKeyCredential || location.origin !== (passkey ?? proof).dataset.origin) continue
  form.hidden = false
  for (const note of document.querySelectorAll('[data-passkey=none]')) note.hidden = true
  form.addEventListener('submit', async (event) => {
    const field = missing(form.elements)
    if (!field) return
    event.preventDefault()
    const failed = form.querySelector('[role=alert]')
    failed.hidden = true
    await ask(field).catch(() => { failed.hidden = false })
  })
}

// A reader who comes back needs another answer.
addEventListener('pageshow', () => {
  for (const field of document.querySelectorAll('.passkey [data-options]')) field.value = ''
})

// The browser also suggests passkeys where the address is typed.
const { passkey } = document.querySelector('[autocomplete~=webauthn]') ? document.querySelector('.passkey').elements : {}
if (location.origin === passkey?.dataset.origin && await window.PublicKeyCredential?.isConditionalMediationAvailable?.()) {
  ask(passkey, 'conditional').catch(() => {})
}

// The form for a new request. Its keys are made here. The private ones are only in the fragment of
// the address that it leads to, and until then kept for request.js: a redirect can replace it.

const one = (selector) => document.querySelector(selector)
const form = one('#ask')
const box = one('#encrypt')
const fields = form.querySelectorAll('[type=hidden]')
let made // the keys are in the form

if (box && sessionStorage.asked) box.checked = true // it has errors
delete sessionStorage.asked
if (!crypto.subtle) Object.assign(box ?? {}, { checked: false, disabled: true })
for (const part of form.querySelectorAll('[data-encrypts]')) part.hidden = part.disabled = false

form.addEventListener('submit', async (event) => {
  if (made) return
  for (const field of fields) field.value = '' // which may have keys of another request
  sessionStorage.asked = ''
  if (!box?.checked) return
  event.preventDefault()
  const { newRequestKeys } = await import(box.dataset.keys)
  const { fragment, publicKeys } = await newRequestKeys()
  if (made) return
  made = true
  for (const [curve, key] of Object.entries(publicKeys)) one(`#${curve}`).value = key
  sessionStorage.asked = `#${fragment}`
  form.action = form.action.replace(/#.*|$/, sessionStorage.asked)
  form.requestSubmit()
})

// Another request has other keys.
addEventListener('pageshow', () => { made = false })

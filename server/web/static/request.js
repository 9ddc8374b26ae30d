// The page of a request. If its answers are encrypted, the fragment of its address has the keys
// that open them, and the link to pass on is shown once it is known that these are its keys.

const one = (selector) => document.querySelector(selector)
const all = (selector) => document.querySelectorAll(selector)
const note = one('#keyless')
const link = one('#link')

// A redirect can replace the fragment, or lead to another request. So on the page that the form leads to,
// the keys count that it made. Behind any other redirect, or on the page of another request, no link is
// shown: the fragment gets a mark, which stays with it wherever the address is loaded again, kept or copied.
const mark = '#moved:'
const [path, made] = stored('sessionStorage', 'asked', '')?.split('#') ?? []
const moved = made ? path !== location.pathname : performance.getEntriesByType('navigation')[0]?.redirectCount
let came = made && !moved ? `#${made}` : location.hash
if (link && moved && !came.startsWith(mark)) came = mark + came.slice(1)
history.replaceState(null, '', came)

const { belong, fingerprintOf, requestKeysOf, unwrapKey } = note ? await import(note.dataset.keys) : {}
const { fragmentOf } = note ? await import(note.dataset.module) : {}
one('.late')?.remove()
const unsure = () => Boolean(link) && came.startsWith(mark)
const key = () => came.replace(mark, '#').slice(1)

// Adds the key of an answer to where its form leads.
async function unlock(form, keys) {
  const hash = await unwrapKey(keys, note.dataset, form.dataset.wrapped).then(fragmentOf).catch(() => '')
  form.action = form.action.replace(/#.*|$/, `#${hash}`)
  form.hidden = !hash
  form.parentElement.querySelector('.error').hidden = hash !== ''
}

async function open() {
  const keys = crypto.subtle && await requestKeysOf(key()).catch(({ reason }) => reason)
  const reason = typeof keys === 'string' ? keys : 'https'
  const opens = keys instanceof Uint8Array
  for (const part of all('.keyed')) part.hidden = !opens || unsure()
  for (const part of all('.passed, #drawn')) part.hidden = true // until bind
  note.hidden = opens
  note.firstElementChild.textContent = note.dataset[reason]
  if (!opens) return
  one('#mine').value = location.href
  for (const form of all('main form:not([data-wrapped])')) form.action = form.action.replace(/#.*|$/, came)
  for (const form of all('[data-wrapped]')) unlock(form, keys)
  if (link) bind(keys)
}

// Adds the fingerprint of the keys to the link to pass on, wherever it is shown. Keys that are not
// those of this address were changed: such a link must not be passed on.
async function bind(keys) {
  const [words, mail, box] = ['#words', '#mail', '#drawn'].map(one)
  const good = await belong(keys, note.dataset)
  if (good && !unsure()) {
    const whole = `${link.value.replace(/#.*/, '')}#${await fingerprintOf(note.dataset)}` // in place of any other
    words.value = words.value.replace(link.value, whole)
    link.value = whole
    mail.href = `mailto:?body=${encodeURIComponent(words.value)}`
    if (box) import(box.dataset.draw).then(({ draw }) => draw(box, whole)).then(() => { box.hidden = false })
  }
  judge(good)
}

function judge(good) {
  one('#changed').hidden = good
  for (const part of all('.passed')) part.hidden = !good || unsure()
}

function show() {
  one('#moved').hidden = !unsure()
  if (note) return open()
  judge(!/^a[\w-]{48}/.test(key())) // a request with keys has a page with keys
}

// A place on the page does not take the place of the keys.
addEventListener('hashchange', () => {
  if (!['', '#main'].includes(location.hash)) came = location.hash
  history.replaceState(null, '', came)
  show()
})
// With its key, the address is that of this page: a browser would only jump within it.
one('#again')?.addEventListener('click', (event) => {
  event.preventDefault()
  location.reload()
})
await show()

// A push that is encrypted end to end: no view is spent without a key, and what was
// opened is decrypted here. The browser sends nothing of the address behind "#".

const one = (selector) => document.querySelector(selector)
const { keyOf, open, decrypting } = await import(one('[data-module]').dataset.module)
const key = () => keyOf(location.hash.slice(1))

// Shows the form that opens the push, or says why it cannot be decrypted.
async function check() {
  const form = one('#open')
  const note = one('#closed')
  const reason = crypto.subtle ? await key().then(() => '', (failure) => failure.reason) : 'https'
  form.hidden = reason !== ''
  one('#keying').hidden = !['none', 'cut'].includes(reason)
  note.hidden = reason === ''
  note.textContent = note.dataset[reason] ?? ''
  form.action = form.action.replace(/#.*|$/, location.hash)
  return form
}

// Takes a key that came apart from its link, or the whole link. It goes into the address of this page, where that of a whole
// link is, and is sent no more than that.
async function takeKey(event) {
  event.preventDefault()
  const field = one('#key')
  const error = one('#key-error')
  const typed = field.value.replace(/\s|.*#/g, '')
  const wrong = await keyOf(typed).then(() => false, () => true)
  error.textContent = wrong ? error.dataset.wrong : ''
  field.ariaInvalid = String(wrong)
  if (wrong) return field.focus()
  history.replaceState(null, '', `#${typed}`)
  field.value = ''
  const form = await check()
  form.querySelector('input, button').focus()
}

// Names are from the sender. The characters here reverse text, or are no characters.
const clean = (name) => name.replace(/^.*[/\\]/, '').replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '') || '_'

const ofText = '.shown:has(#secret)'
const remove = (selector) => { for (const part of document.querySelectorAll(selector)) part.remove() }

// Shows a text that is a login in its fields; server/login.go has the same rules.
function showLogin(text) {
  const fields = one('#fields')
  const rows = [...document.querySelectorAll('[data-line]')]
  const parts = []
  let rest = text
  for (const row of rows) {
    const { line } = row.dataset
    if (!rest.startsWith(line)) continue
    const [value] = row === rows.at(-1) ? [rest.slice(line.length)] : rest.slice(line.length).split('\n', 1)
    rest = rest.slice(line.length + value.length + 1)
    if (value) parts.push({ row, value, line })
  }
  if (parts.length < 2 || parts.map(({ line, value }) => line + value).join('\n') !== text || text.includes('\r')) return
  for (const { row, value } of parts) {
    row.querySelector('span').textContent = value
    row.hidden = false
  }
  one('#as-text').append(one(ofText))
  fields.hidden = one('#as-text').hidden = false
  import(fields.dataset.code).then(({ follow }) => follow())
}

async function show() {
  const text = one('#secret')
  const note = one('#unreadable') // that scripts are missing, until here
  const links = [...document.querySelectorAll('.files a')]
  try {
    const opener = await key()
    const push = await open(opener, text.textContent)
    if (push.files.length !== links.length) throw new Error('a file is missing')
    text.textContent = push.text
    note.hidden = true
    if (push.text) one(ofText).hidden = false
    else remove(ofText)
    if (one('#fields')) showLogin(push.text)
    links.forEach((link, i) => {
      const { name: old } = link.dataset
      const name = clean(push.files[i].name)
      const row = link.closest('li')
      const renamed = (words) => words.replace(old, () => name)
      for (const part of [link, row.querySelector('progress')]) part.ariaLabel = renamed(part.ariaLabel)
      Object.assign(link.dataset, { name, said: renamed(link.dataset.said) })
      row.querySelector('.name').textContent = name
      link.decrypting = () => decrypting(opener, i + 1)
    })
  } catch {
    remove('.shown, section:has(.files)')
    note.textContent = note.dataset.wrong
    note.hidden = false
  }
}

if (one('#open')) {
  addEventListener('hashchange', check)
  one('#keying').addEventListener('submit', takeKey)
  check()
} else {
  show()
}

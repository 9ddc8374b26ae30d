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
  note.hidden = reason === ''
  note.textContent = note.dataset[reason] ?? ''
  for (const link of document.querySelectorAll('a[hreflang]')) link.hash = location.hash
  form.action = form.action.replace(/#.*|$/, location.hash)
}

// Names are from the sender. The characters here reverse text, or are no characters.
const clean = (name) => name.replace(/^.*[/\\]/, '').replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '') || '_'

const ofText = '.shown'
const remove = (selector) => { for (const part of document.querySelectorAll(selector)) part.remove() }

async function show() {
  const text = one('#secret')
  const links = [...document.querySelectorAll('.files a')]
  try {
    const opener = await key()
    const push = await open(opener, text.textContent)
    if (push.files.length !== links.length) throw new Error('a file is missing')
    text.textContent = push.text
    if (push.text) one(ofText).hidden = false
    else remove(ofText)
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
    remove(`${ofText}, section:has(.files)`)
    one('#unreadable').hidden = false
  }
}

if (one('#open')) {
  addEventListener('hashchange', check)
  check()
} else {
  show()
}

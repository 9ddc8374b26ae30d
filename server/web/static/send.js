// A form that sends a push, or asks for one: files are dropped and pasted, and what it sends may be
// encrypted here first. A request of its own sends it: if that fails, all that was typed is still there.

const main = document.querySelector('main')
const one = (selector) => main.querySelector(selector)
const all = (selector) => main.querySelectorAll(selector)
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

let form
let good // the form may be sent; one that may be encrypted only once its own script says so
let files = [] // to be sent
let upload // that is running, or the encryption before it
let leaving = false // what was typed is sent
const inOne = 8 << 20 // bytes of files that one request sends; more are sent in pieces
let fragment // with the keys of what is being sent, if that is encrypted here

const size = (n) => {
  const units = form.dataset.units.split(' ')
  let unit = 0
  for (; n >= 1023.95; unit++) n /= 1024
  const format = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: n < 100 ? 1 : 0, useGrouping: false })
  return `${format.format(n)}\u00a0${units[unit]}`
}

const total = (files) => files.reduce((n, { size }) => n + size, 0)

// A form without a choice of kinds takes a text and files.
const kind = () => one('.kinds :checked')?.value ?? 'file'

function showFiles() {
  const list = one('#chosen')
  if (!list) return
  const { most, largest, remove, tooLarge, tooMany } = form.dataset
  const part = (into, tag, className = '', textContent = '') => into.appendChild(Object.assign(document.createElement(tag), { className, textContent }))
  list.replaceChildren()
  files.forEach((file, i) => {
    const item = part(list, 'li')
    part(item, 'span', 'name', file.name)
    part(item, 'span', 'size', size(file.size))
    const button = part(item, 'button', 'only', '×')
    button.type = 'button'
    button.ariaLabel = fill(remove, file)
    button.onclick = () => {
      files.splice(i, 1)
      showFiles();
      (all('#chosen button')[Math.max(0, i - 1)] ?? one('#files')).focus()
    }
    if (file.size > largest) part(item, 'p', 'error', tooLarge)
  })
  if (files.length > most) part(list, 'li', 'error', tooMany)
  list.hidden = !files.length
  one('.drop').classList.toggle('filled', files.length > 0)
  const label = one('.drop label')
  label.dataset.first ??= label.textContent
  label.textContent = files.length ? label.dataset.more : label.dataset.first
}

// Takes files that were dropped or pasted, whatever kind is chosen.
function take(more) {
  if (upload) return
  one('#kind-file')?.click()
  if (one('#files')) add(more)
  else one('.needed a')?.focus()
}

function add(more) {
  files.push(...more)
  one('#files').value = ''
  showFiles()
  document.querySelector('#said').textContent = files.map((file) => file.name).join(', ')
}

// Ends the upload with a message: that something failed, or else plain news.
function end(text, id = 'failed') {
  busy(false)
  const box = one(`#${id}`)
  box.firstElementChild.textContent = text
  box.hidden = false
  box.focus()
}

function busy(on) {
  for (const part of form.children) part.inert = on && part.id !== 'sending'
  one('#sending').hidden = !on
  for (const box of all('#failed, #told')) box.hidden = true
}

const encrypts = () => form.dataset.keys || (one('#encrypt')?.checked && ['text', 'login', 'file'].includes(kind()))

// Returns the text of the push: what was typed, or the lines of a login.
function text() {
  if (kind() === 'login') return [...all('[data-line]')].filter(({ value }) => value).map(({ value, dataset }) => dataset.line + value).join('\n')
  return one(kind() === 'url' ? '#url' : '#payload')?.value ?? ''
}

// Says what is wrong with what would be sent, if the page can tell that by itself.
function wrong() {
  const { longest, longestEncrypted, tooLong } = form.dataset
  const most = encrypts() ? longestEncrypted : longest
  if (new Blob([text()]).size > most) return fill(tooLong, { max: size(+most) })
  return kind() === 'file' && one('#chosen .error')?.textContent
}

// Encrypts the text and the files of data. Returns the fragment with the key, or nothing of it
// if the key is wrapped, for the person who asked.
async function encrypt(data, signal) {
  const { module, asks, busy: words } = one('[data-module]').dataset
  one('#sent').textContent = words
  if (asks) return (await import(asks)).addRequestKeys(data)
  const { fragmentOf, newKey, seal, encryptFile } = await import(module)
  const key = newKey()
  const { keys: asked } = form.dataset
  if (asked) data.set('push[wrapped_key]', await (await import(asked)).wrapKey(key, form.dataset))
  const sending = data.getAll('push[files][]')
  data.set('push[payload]', await seal(key, text(), sending))
  if (kind() === 'login') data.set('push[kind]', 'text') // the server knows no more of it
  for (const name of [...data.keys()]) if (/^push\[(login|files|notify)/.test(name)) data.delete(name)
  let done = 0
  for (const [i, file] of sending.entries()) {
    const told = (n) => {
      signal.throwIfAborted()
      one('progress').value = (done + n) / (1 + total(sending))
    }
    data.append('push[files][]', await encryptFile(key, i + 1, file, told), `${i + 1}.bin`)
    done += file.size
  }
  return asked ? '' : `#${await fragmentOf(key)}`
}

// How fast it goes, and how long it still takes; nothing until that is known.
function pace(done, all, passed) {
  if (passed < 3 || !done) return ''
  return ` · ${size(done / passed)}/s · ${fill(form.dataset.done, { when: until(Math.ceil((all - done) / done * passed)) })}`
}

async function send() {
  const why = wrong()
  if (why) return end(why)
  const data = form.dataset.keys ? new FormData() : new FormData(form) // what is asked for leaves encrypted alone
  data.delete('push[files][]')
  const others = { url: /(payload|login)/, login: /(payload|url)\]/ }[kind()] ?? /(login|url)/
  for (const name of [...data.keys()]) if (/^push\[/.test(name) && others.test(name)) data.delete(name) // what other kinds have stays here
  const sending = kind() === 'file' ? files : []
  for (const file of sending) data.append('push[files][]', file)
  const { sent, stored, cut, stopped } = form.dataset
  fragment = undefined
  if (encrypts()) {
    upload = new AbortController()
    const { signal } = upload
    busy(true)
    if (sending.length) one('#sending button').focus()
    try {
      fragment = await Promise.race([encrypt(data, signal), new Promise((_, reject) => { signal.onabort = reject })])
      signal.throwIfAborted()
    } catch {
      upload = undefined
      return signal.aborted ? end(stopped, 'told') : end(one('[data-module]').dataset.failed)
    }
  }
  let [passed, last] = [0, performance.now()]
  const tell = (done, all) => {
    const now = performance.now()
    passed += Math.min(2, (now - last) / 1000) // a longer silence is a pause, or a line that is cut
    last = now
    one('progress').value = all && done / all
    one('#sent').textContent = sent && done < all ? fill(sent, { done: size(done), all: size(all) }) + pace(done, all, passed) : stored
  }
  const ended = (then) => (...args) => {
    upload = undefined
    then(...args)
  }
  const ends = {
    answered: ended(({ status, response, responseURL }) => answered(status, response, new URL(responseURL))),
    failed: ended(() => end(cut)),
    stopped: ended(() => end(stopped, 'told')),
  }
  busy(true)
  tell(0, total(sending))
  if (sending.length) one('#sending button').focus() // a text is sent before it could be stopped on purpose
  const bytes = total(data.getAll('push[files][]'))
  const { pieces, lost } = form.dataset
  const button = one('#pause')
  Object.assign(button, { hidden: bytes <= inOne, textContent: button.dataset.pause })
  if (bytes > inOne) {
    upload = { abort: ends.stopped } // until the script has come
    const { sendInPieces } = await import(pieces).catch(() => ({}))
    if (!upload) return
    if (!sendInPieces) return ends.failed()
    upload = sendInPieces(form.action, data, { ...ends, told: tell, lost: () => { one('#sent').textContent = lost } })
    return
  }
  upload = new XMLHttpRequest()
  upload.open('POST', form.action)
  upload.responseType = 'document'
  upload.upload.onprogress = ({ loaded, total }) => tell(loaded, total)
  upload.onload = ({ target }) => ends.answered(target)
  upload.onerror = ends.failed
  upload.onabort = ends.stopped
  upload.send(data)
}

// Pauses the upload, or continues it.
function pause(button) {
  if (!upload.pause) return // the script is still to come
  const { paused } = upload
  upload[paused ? 'resume' : 'pause']()
  button.textContent = paused ? button.dataset.pause : button.dataset.resume
}

// What was typed, and a page that is shown again may lack.
const typed = '#payload, #url, #text, #passphrase, #name, #note, [data-line]'
const kept = ':is(input, select, textarea)[id]'

const filled = () => files.length || [...all(typed)].some(({ value }) => value)

// Goes on to the page that says what was sent; or if something was wrong, replaces this form by the same one
// in the answer, which must encrypt if this one does, and keeps what was typed.
function answered(status, page, url) {
  if (status === 200 && url.pathname.includes(form.dataset.sends) && url.pathname !== location.pathname) {
    leaving = true
    const detail = url + (fragment ?? '')
    for (const button of all('#sending button')) button.hidden = true // a link, if the next page is late
    one('#sent').replaceChildren(Object.assign(document.createElement('a'), { href: detail, textContent: form.dataset.stored }))
    return form.dispatchEvent(new CustomEvent('made', { cancelable: true, detail })) && location.assign(detail)
  }
  const next = page?.querySelector('main')
  if (url.pathname !== new URL(form.action).pathname) return end((url.pathname.includes('/sign_in') && form.dataset.ended) || form.dataset.cut)
  const lacks = (part) => one(part) && !next.querySelector(part)
  if (!next || (status === 422 && [`[data-sends="${form.dataset.sends}"]`, '#closed', '#encrypt', '[data-keys]'].some(lacks))) return end(form.dataset.cut)
  if (status < 400) return end(form.dataset.cut)
  if (status !== 422) return end([...next.querySelectorAll('h1, .lead, .lead + .notice')].map((el) => el.textContent).join('. '))
  const fields = all(kept)
  // Once its session has ended, a person is shown the form for those without an account.
  if ([...fields].some(({ id, type, value, defaultValue }) => /text/.test(type) && value !== defaultValue && lacks(`#${id}`))) return end(form.dataset.ended)
  main.replaceChildren(...next.childNodes)
  for (const menu of document.querySelectorAll('.language')) menu.replaceWith(page.querySelector('.language') ?? menu)
  document.title = page.title
  start()
  main.dispatchEvent(new Event('redrawn', { bubbles: true }))
  for (const { id, value, checked } of fields) Object.assign(one(`#${id}`) ?? {}, { value, checked })
  one('#passphrase')?.dispatchEvent(new Event('input', { bubbles: true }))
  offer()
  ;(one('.problems') ?? one('h1')).focus()
}

// Shows what is so with encryption, or without it.
function say() {
  for (const part of all('.encrypted, .unencrypted')) part.hidden = !encrypts() === part.matches('.encrypted')
}

// Shows what encrypts and sends. A kind that is never encrypted has no switch for that.
function offer() {
  for (const part of all('[data-encrypts]')) part.hidden = part.disabled = part.matches(`.for:not(.${kind()})`)
  say()
}

function start() {
  form = one('[data-sends]')
  good = !('changed' in form.dataset || one('[data-encrypts]'))
  form.addEventListener('checked', (event) => {
    event.preventDefault() // tells that this script is there
    good = event.detail
    form.hidden = !good && !filled()
    if (!good) upload?.abort()
    offer()
  })
  if (!crypto.subtle) Object.assign(one('#encrypt') ?? {}, { checked: false, disabled: true })
  one('.drop')?.classList.add('live')
  showFiles()
  form.addEventListener('change', ({ target }) => {
    if (target.id === 'files') add(target.files)
    say()
  })
  form.addEventListener('click', ({ target }) => {
    if (target.matches('#pause')) pause(target)
    else if (target.matches('#sending button')) upload?.abort()
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) form.requestSubmit(one('.send button'))
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (good && !upload && !leaving) send()
  })
}

for (const name of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    if (!event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    form.classList.toggle('over', name === 'dragover')
    if (name === 'drop') take(event.dataTransfer.files)
  })
}

// Programs for tables and texts paste a picture of the text along with it.
document.addEventListener('paste', (event) => {
  const { files: pasted, types } = event.clipboardData
  if (!pasted.length || types.includes('text/plain')) return
  event.preventDefault()
  take(pasted)
})

addEventListener('beforeunload', (event) => {
  if (!leaving && (upload || filled())) event.preventDefault()
})

// Back from the page that says what was sent: it must not be sent again.
addEventListener('pageshow', ({ persisted }) => persisted && leaving && location.reload())

start()

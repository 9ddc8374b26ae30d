// The form for a new push: the terms of each kind, a generator, and files that are dropped,
// pasted, and sent with progress.

const main = document.querySelector('main')
const one = (selector) => main.querySelector(selector)
const all = (selector) => main.querySelectorAll(selector)
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

let form
let files = [] // to be sent
let upload // that is running, or the encryption before it
let leaving = false // the form is being sent
let fragment // with the key of the push that is being sent, if that is encrypted here

const size = (n) => {
  let unit = 0
  for (; n >= 1023.95 && unit < 3; unit++) n /= 1024
  return `${+n.toFixed(n < 100 && unit ? 1 : 0)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`
}

const kind = () => one('.kinds :checked')

// Sets the time to a number of days, by its name if it has one.
function setDays(days) {
  const named = [...all('#time [data-days]')].find((option) => option.value >= 6 && option.dataset.days === days)
  one('#time').value = named?.value ?? ''
  one('#days').value = days
  one('#unit').value = 'days'
}

// A typed time counts only if no other is chosen. A disabled field is not checked.
function boundTime() {
  const [, min, max] = kind().dataset.days.split(' ')
  const [days, unit] = [one('#days'), one('#unit')]
  const perDay = { minutes: 1440, hours: 24, days: 1 }[unit.value]
  days.disabled = unit.disabled = one('#time').value !== ''
  Object.assign(days, { min: perDay > 1 ? 1 : min, max: max * perDay })
}

// Applies the terms of the kind. Fields that the sender did not touch get its defaults.
function takeTerms(before) {
  const now = kind().dataset
  const [time, views] = [one('#time'), one('#views')]
  const [days, min, max] = now.days.split(' ')
  const option = time.selectedOptions[0]
  for (const each of all('#time [data-days]')) each.disabled = +each.dataset.days < min || +each.dataset.days > max
  const usual = before?.days.split(' ')[0]
  if (!option || option.disabled || (option.value >= 6 && option.dataset.days === usual)) setDays(days)
  const [count, least, most] = now.views.split(' ')
  if (views.value === before?.views.split(' ')[0]) views.value = count
  Object.assign(views, { min: least, max: most })
  for (const name of ['step', 'deletable']) {
    const box = one(`#${name}`)
    if (box && before && now[name] && box.checked === (before[name] === 'on')) box.checked = now[name] === 'on'
  }
  boundTime()
}

// Keeps settings in this browser, if the sender asks for it.
const settings = '#time, #days, #unit, #views, #step, #deletable, #encrypt:enabled'
const what = (input) => input.type === 'checkbox' ? 'checked' : 'value'

function remember() {
  const kept = { kind: kind().value, more: one('#more').open }
  for (const input of all(settings)) kept[input.id] = input[what(input)]
  try {
    if (one('#remember').checked) localStorage.push = JSON.stringify(kept)
    else localStorage.removeItem('push')
  } catch {
    // Storage is refused.
  }
}

function recall() {
  let kept
  try {
    kept = JSON.parse(localStorage.push)
  } catch {
    // Nothing is kept, or storage is refused.
  }
  if (!kept) return
  one('#remember').checked = true
  if (one('.problems')) return
  for (const radio of all('.kinds input:enabled')) radio.checked ||= radio.value === kept.kind
  for (const input of all(settings)) input[what(input)] = kept[input.id] ?? input[what(input)]
  one('#more').open ||= kept.more
}

// Estimates how many bits a guesser needs. A word counts as one of a thousand, and a
// row such as 1234 or aaaa counts little.
function bitsOf(text) {
  let bits = 0
  const rest = text.replace(/[A-Z]?[a-z]{2,9}/g, (word) => {
    if (word.split(/[aeiouy]/i).length < word.length / 4 + 1) return word
    bits += Math.min(10, 2 * new Set(word).size)
    return ''
  })
  let pool = 0, last = 0
  for (const [set, n] of [[/[a-z]/, 26], [/[A-Z]/, 26], [/\d/, 10], [/[^a-zA-Z\d]/, 20]]) if (set.test(rest)) pool += n
  for (const char of rest) {
    const code = char.codePointAt(0)
    bits += Math.abs(code - last) > 1 ? Math.log2(pool) : 0.5
    last = code
  }
  return bits
}

function showStrength() {
  const text = one('#passphrase').value
  const level = [28, 42, 56, 72].filter((least) => bitsOf(text) >= least).length
  one('#strength').hidden = !text
  one('meter').value = level || 0.3 // so that there is something red to see
  const told = one('#strength output')
  told.textContent = text && told.dataset[level]
}

// Returns a random number below n. All are equally likely.
function below(n) {
  const most = 2 ** 32 - (2 ** 32 % n)
  const box = new Uint32Array(1)
  do crypto.getRandomValues(box)
  while (box[0] >= most)
  return box[0] % n
}

async function generate() {
  const { words: path, bits } = one('#generator').dataset
  const of = one('#made-of').value
  const words = of === 'words'
  for (const part of all('[data-of]')) part.hidden = part.dataset.of !== of
  let sets = ['abcdefghijkmnpqrstuvwxyz']
  if (words) sets = [(await import(path)).words]
  else for (const set of all('[data-of] :checked')) sets.push(set.value)
  const [id, least, most] = words ? ['#count', 3, 20] : ['#length', 8, 128]
  const n = Math.min(most, Math.max(least, parseInt(one(id).value) || least))
  const from = sets.flatMap((set) => [...set])
  let made
  let tries = 99 // Many systems demand one of each set.
  do made = Array.from({ length: n }, () => from[below(from.length)])
  while (tries-- && !sets.every((set) => made.some((c) => set.includes(c))))
  one('#made').value = made.join(words ? '-' : '')
  one('#bits').textContent = fill(bits, { bits: Math.floor(n * Math.log2(from.length)) })
}

// Opens the generator under the field that it is for, or closes it.
function openGenerator(button) {
  const panel = one('#generator')
  const open = button.ariaExpanded !== 'true'
  for (const other of all('[data-generate]')) other.ariaExpanded = String(open && other === button)
  for (const use of panel.querySelectorAll('button[value]:not([value=more])')) use.hidden = use.value !== button.dataset.generate
  const field = button.closest('.field')
  if (field.closest('.login')) field.after(panel)
  else field.append(panel)
  panel.hidden = !open
  if (open) generate()
}

function use(id) {
  const target = one(`#${id}`)
  openGenerator(one(`[data-generate=${id}]`))
  if (id === 'payload') target.setRangeText(one('#made').value, target.selectionStart, target.selectionEnd, 'end')
  else target.value = one('#made').value
  target.dispatchEvent(new Event('input', { bubbles: true }))
  target.focus()
}

function showFiles() {
  const list = one('#chosen')
  if (!list) return
  const { most, largest, remove, tooLarge, tooMany } = form.dataset
  const part = (into, tag, className, textContent) => {
    const el = Object.assign(document.createElement(tag), { className, textContent })
    into.append(el)
    return el
  }
  list.replaceChildren()
  files.forEach((file, i) => {
    const item = part(list, 'li', '', '')
    part(item, 'span', 'name', file.name)
    part(item, 'span', 'size', size(file.size))
    const button = part(item, 'button', 'quiet small', '×')
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

const encrypts = () => one('#encrypt')?.checked && ['text', 'file'].includes(kind().value)

// Encrypts the text and the files of data. Returns the fragment with the key.
async function encrypt(data, signal) {
  one('#sent').textContent = one('#encrypt').dataset.busy
  const { fragmentOf, newKey, seal, encryptFile } = await import(one('#encrypt').dataset.module)
  const key = newKey()
  const hash = `#${await fragmentOf(key)}`
  const sending = data.getAll('push[files][]')
  const lines = kind().value === 'text' && one('#login')?.checked && [...all('[data-line]')].filter(({ value }) => value).map(({ value, dataset }) => dataset.line + value)
  data.set('push[payload]', await seal(key, lines ? lines.join('\n') : data.get('push[payload]'), sending))
  for (const name of [...data.keys()].filter((name) => name.startsWith('push[login'))) data.delete(name)
  for (const name of ['push[files][]', 'push[url]', 'push[notify_emails_to]', 'push[notify_emails_to_locale]']) data.delete(name)
  let done = 0
  for (const [i, file] of sending.entries()) {
    const told = (n) => {
      signal.throwIfAborted()
      one('progress').value = (done + n) / (1 + sending.reduce((sum, { size }) => sum + size, 0))
    }
    data.append('push[files][]', await encryptFile(key, i + 1, file, told), `${i + 1}.bin`)
    done += file.size
  }
  signal.throwIfAborted()
  return hash
}

async function send() {
  const wrong = kind().value === 'file' && one('#chosen .error')
  if (wrong) return end(wrong.textContent)
  const data = new FormData(form)
  data.delete('push[files][]')
  if (kind().value === 'file') for (const file of files) data.append('push[files][]', file)
  const { sent, stored, cut, stopped } = form.dataset
  fragment = undefined
  if (encrypts()) {
    upload = new AbortController()
    const { signal } = upload
    busy(true)
    one('#sending button').focus()
    try {
      fragment = await encrypt(data, signal)
    } catch {
      upload = undefined
      return signal.aborted ? end(stopped, 'told') : end(one('#encrypt').dataset.failed)
    }
  }
  upload = new XMLHttpRequest()
  upload.open('POST', form.action)
  upload.responseType = 'document'
  upload.upload.onprogress = ({ loaded, total }) => {
    one('progress').value = loaded / total
    one('#sent').textContent = loaded < total ? fill(sent, { done: size(loaded), all: size(total) }) : stored
  }
  upload.onload = ({ target: { status, response, responseURL } }) => answered(status, response, new URL(responseURL))
  upload.onerror = () => end(cut)
  upload.onabort = () => end(stopped, 'told')
  upload.onloadend = () => { upload = undefined }
  busy(true)
  one('progress').value = 0
  one('#sent').textContent = fill(sent, { done: size(0), all: size(files.reduce((n, file) => n + file.size, 0)) })
  one('#sending button').focus()
  upload.send(data)
}

// Goes on to the receipt; or if something was wrong, replaces this page by that of the
// answer, and keeps the files and the passphrase.
function answered(status, page, url) {
  if (status === 200 && url.pathname.includes('/receipt/')) {
    leaving = true
    return location.replace(url + (fragment ?? ''))
  }
  const next = page?.querySelector('main')
  if (url.pathname !== new URL(form.action).pathname) return end(form.dataset.ended)
  if (!next) return end(form.dataset.cut)
  if (status !== 422) return end([...next.querySelectorAll('h1, h1 + p')].map((el) => el.textContent).join('. '))
  const typed = ['#passphrase', '#payload', '#encrypt'].flatMap((field) => one(field) ?? []).map(({ id, value, checked }) => ({ id, value, checked }))
  main.replaceChildren(...next.childNodes)
  document.title = page.title
  main.dispatchEvent(new Event('redrawn', { bubbles: true }))
  start()
  for (const { id, value, checked } of typed) Object.assign(one(`#${id}`), { value, checked })
  showStrength()
  ;(one('.problems') ?? one('h1')).focus()
}

// Takes the text along from the field for addresses to that for texts, and back.
function carry() {
  const [text, url] = [one('#payload'), one('#url')]
  if (!url) return
  const [from, to] = kind().value === 'url' ? [text, url] : [url, text]
  if (to.value || !from.value || (to === url && !/^\s*https?:\S+\s*$/.test(from.value))) return
  to.value = from.value.trim()
  from.value = ''
}

function start() {
  form = one('#create')
  one('.drop')?.classList.add('live')
  if (!crypto.subtle && one('#encrypt')) Object.assign(one('#encrypt'), { checked: false, disabled: true })
  recall()
  takeTerms()
  showFiles()
  let before = kind().dataset
  form.addEventListener('input', ({ target }) => {
    if (target.id === 'passphrase') showStrength()
    if (target.closest('#generator')) generate()
  })
  form.addEventListener('change', ({ target }) => {
    if (target.type === 'radio') {
      takeTerms(before)
      before = kind().dataset
      carry()
    }
    if (target.closest('.limits')) boundTime()
    if (target.id === 'time' && !target.value) one('#days').select()
    if (target.id === 'files') add(target.files)
    remember()
  })
  form.addEventListener('click', ({ target }) => {
    if (target.dataset.generate) openGenerator(target)
    else if (target.matches('#sending button')) upload?.abort()
    else if (target.value === 'more') generate()
    else if (target.matches('#generator button')) use(target.value)
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.isComposing) form.requestSubmit(one('.send button'))
  })
  one('#more').addEventListener('toggle', remember)
  form.addEventListener('submit', (event) => {
    leaving = kind().value !== 'file' && !encrypts()
    if (leaving) return
    event.preventDefault()
    if (!upload) send()
  })
}

for (const name of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    if (!form || !event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    form.classList.toggle('over', name === 'dragover')
    if (name === 'drop') take(event.dataTransfer.files)
  })
}

// Programs for tables and texts paste a picture of the text along with it.
document.addEventListener('paste', (event) => {
  const { files: pasted, types } = event.clipboardData
  if (!form || !pasted.length || types.includes('text/plain')) return
  event.preventDefault()
  take(pasted)
})

const typed = '#payload, #url, .login :is(input, textarea)'

addEventListener('beforeunload', (event) => {
  if (!leaving && form && (upload || files.length || [...all(typed)].some((field) => field.value))) event.preventDefault()
})

addEventListener('pageshow', () => { leaving = false })

if (one('#create')) {
  start()
  // On a touch screen, a focus would open the keyboard over the form.
  if (matchMedia('(hover: hover)').matches && !one('[autofocus]')) one(kind().value === 'url' ? '#url' : '#payload').focus()
}

// The form for a new push: sliders, a generator, and files with drag and drop and with
// progress.

const main = document.querySelector('main')
const one = (selector) => main.querySelector(selector)
const all = (selector) => main.querySelectorAll(selector)
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])

let form
let files = [] // to be sent
let upload // that is running
let leaving = false // the form is being sent
let addKey // to the link of the push that is being sent, if that is encrypted here

const size = (n) => {
  let unit = 0
  for (; n >= 1023.95 && unit < 3; unit++) n /= 1024
  return `${+n.toFixed(n < 100 && unit ? 1 : 0)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`
}

const kind = () => one('.kinds :checked')

const dial = (id) => all(`.dial:has(#${id}) input`)
const turn = (id, value) => { for (const input of dial(id)) input.value = value }

// A time counts instead of the days, so the days are disabled while one is chosen.
function restDays() {
  for (const input of dial('days')) input.disabled = one('#time').value !== ''
}

// Applies the terms of the kind. Fields that the sender did not touch get its defaults.
function takeTerms(before) {
  const now = kind().dataset
  for (const name of ['days', 'views']) {
    const { value } = one(`#${name}`)
    const [usual, min, max] = now[name].split(' ')
    for (const input of dial(name)) Object.assign(input, { min, max })
    const untouched = before && value === before[name].split(' ')[0]
    turn(name, untouched ? usual : value && Math.min(max, Math.max(min, value)))
  }
  for (const name of ['step', 'deletable']) {
    const box = one(`#${name}`)
    if (box && before && now[name] && box.checked === (before[name] === 'on')) box.checked = now[name] === 'on'
  }
  const { min, max } = one('#days')
  for (const option of all('#time [data-days]')) option.disabled = +option.dataset.days < min || +option.dataset.days > max
  if (one('#time').selectedOptions[0]?.disabled ?? true) one('#time').value = ''
  for (const button of all('[data-code]')) button.hidden = one(`#time [value="${button.dataset.code}"]`).disabled
  restDays()
}

// Less than a day is a time; anything else is days.
function preset(code) {
  one('#time').value = code < 6 ? code : ''
  if (code >= 6) turn('days', one(`#time [value="${code}"]`).dataset.days)
  restDays()
  remember()
}

// Keeps settings in this browser, if the sender asks for it.
const settings = '#days, #views, #time, #step, #deletable, #encrypt:enabled'
const what = (input) => input.type === 'checkbox' ? 'checked' : 'value'

function remember() {
  const kept = { kind: kind().value }
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
  one('meter').value = level
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
  const [id, least, most] = words ? ['#count', 3, 20] : ['#length', 8, 128]
  const n = Math.min(most, Math.max(least, parseInt(one(id).value) || least))
  let sets = ['abcdefghijkmnpqrstuvwxyz']
  if (words) sets = [(await import(path)).words]
  else for (const set of all('[data-of] :checked')) sets.push(set.value)
  const from = sets.flatMap((set) => [...set])
  let made
  let tries = 99 // Many systems demand one of each set.
  do made = Array.from({ length: n }, () => from[below(from.length)])
  while (tries-- && !sets.every((set) => made.some((c) => set.includes(c))))
  one('#made').value = made.join(words ? '-' : '')
  one('#bits').textContent = fill(bits, { bits: Math.floor(n * Math.log2(from.length)) })
}

function use(id) {
  const target = one(`#${id}`)
  if (id === 'payload') target.setRangeText(one('#made').value, target.selectionStart, target.selectionEnd, 'end')
  else target.value = one('#made').value
  showStrength()
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
}

function add(more) {
  files.push(...more)
  one('#files').value = ''
  showFiles()
  document.querySelector('#said').textContent = files.map((file) => file.name).join(', ')
}

function fail(text) {
  busy(false)
  const box = one('#failed')
  box.firstElementChild.textContent = text
  box.hidden = false
  box.focus()
}

function busy(on) {
  for (const part of form.children) part.inert = on && part.id !== 'sending'
  one('#sending').hidden = !on
  if (on) one('#failed').hidden = true
}

const encrypts = () => one('#encrypt')?.checked && ['text', 'file'].includes(kind().value)

// Encrypts the text and the files of data. Returns a function that adds the key to the
// link on the page that follows.
async function encrypt(data) {
  const { fragmentOf, newKey, seal, encryptFile } = await import(one('#encrypt').dataset.module)
  const key = newKey()
  const hash = `#${await fragmentOf(key)}`
  const sending = data.getAll('push[files][]')
  data.set('push[payload]', await seal(key, data.get('push[payload]'), sending))
  for (const name of ['push[files][]', 'push[notify_emails_to]', 'push[notify_emails_to_locale]']) data.delete(name)
  one('#sent').textContent = one('#encrypt').dataset.busy
  let done = 0
  for (const [i, file] of sending.entries()) {
    const told = (n) => { one('progress').value = (done + n) / (1 + sending.reduce((sum, { size }) => sum + size, 0)) }
    data.append('push[files][]', await encryptFile(key, i + 1, file, told), `${i + 1}.bin`)
    done += file.size
  }
  return () => {
    const link = one('#link').value
    for (const field of all('#link, #words')) field.value = field.value.replace(link, link + hash)
    for (const other of all('a[target]')) other.hash = hash
  }
}

async function send() {
  const wrong = kind().value === 'file' && one('#chosen .error')
  if (wrong) return fail(wrong.textContent)
  const data = new FormData(form)
  data.delete('push[files][]')
  if (kind().value === 'file') for (const file of files) data.append('push[files][]', file)
  const { sent, stored, cut, stopped } = form.dataset
  if (encrypts()) {
    busy(true)
    addKey = await encrypt(data).catch(() => {})
    if (!addKey) return fail(cut)
  }
  upload = new XMLHttpRequest()
  upload.open('POST', form.action)
  upload.responseType = 'document'
  upload.upload.onprogress = ({ loaded, total }) => {
    one('progress').value = loaded / total
    one('#sent').textContent = loaded < total ? fill(sent, { done: size(loaded), all: size(total) }) : stored
  }
  upload.onload = ({ target: { status, response, responseURL } }) => answered(status, response, new URL(responseURL).pathname)
  upload.onerror = () => fail(cut)
  upload.onabort = () => fail(stopped)
  upload.onloadend = () => { upload = undefined }
  busy(true)
  one('progress').value = 0
  one('#sent').textContent = fill(sent, { done: size(0), all: size(files.reduce((n, file) => n + file.size, 0)) })
  one('#sending button').focus()
  upload.send(data)
}

// Replaces this page by that of an answer. If something was wrong, it keeps the files
// and the passphrase.
function answered(status, page, path) {
  const next = page?.querySelector('main')
  if (path !== new URL(form.action).pathname) return fail(form.dataset.ended)
  if (!next) return fail(form.dataset.cut)
  if (status !== 201 && status !== 422) return fail([...next.querySelectorAll('h1, h1 + p')].map((el) => el.textContent).join('. '))
  const typed = ['#passphrase', '#payload', '#encrypt'].flatMap((field) => one(field) ?? []).map(({ id, value, checked }) => ({ id, value, checked }))
  main.replaceChildren(...next.childNodes)
  document.title = page.title
  for (const part of all('[data-script]')) part.hidden = false
  if (status === 422) {
    start()
    for (const { id, value, checked } of typed) Object.assign(one(`#${id}`), { value, checked })
    showStrength()
  } else {
    addKey?.()
    form = undefined
    files = []
    const told = new Intl.DateTimeFormat(page.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short' })
    for (const time of all('time')) time.textContent = told.format(new Date(time.dateTime))
  }
  (one('.problems') ?? one('h1')).focus()
}

function start() {
  form = one('#create')
  if (!crypto.subtle && one('#encrypt')) Object.assign(one('#encrypt'), { checked: false, disabled: true })
  recall()
  takeTerms()
  showFiles()
  let before = kind().dataset
  form.addEventListener('input', ({ target }) => {
    for (const input of target.closest('.dial')?.querySelectorAll('input') ?? []) if (input !== target) input.value = target.value
    if (target.id === 'passphrase') showStrength()
    if (target.closest('#generator')) generate()
  })
  form.addEventListener('change', ({ target }) => {
    if (target.type === 'radio') {
      takeTerms(before)
      before = kind().dataset
    }
    if (target.id === 'time') restDays()
    if (target.id === 'files') add(target.files)
    remember()
  })
  form.addEventListener('click', ({ target }) => {
    if (target.dataset.code) preset(target.dataset.code)
    else if (target.matches('#sending button')) upload?.abort()
    else if (target.value === 'more') generate()
    else if (target.matches('#generator button')) use(target.value)
  })
  one('#generator').addEventListener('toggle', generate, { once: true })
  form.addEventListener('submit', (event) => {
    leaving = kind().value !== 'file' && !encrypts()
    if (leaving) return
    event.preventDefault()
    if (!upload) send()
  })
}

for (const name of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(name, (event) => {
    const drop = form && kind().value === 'file' && one('.drop')
    if (!drop || !event.dataTransfer.types.includes('Files')) return
    event.preventDefault()
    drop.classList.toggle('over', name === 'dragover')
    if (name === 'drop' && !upload) add(event.dataTransfer.files)
  })
}

addEventListener('beforeunload', (event) => {
  if (!leaving && form && (upload || one('#payload').value || files.length)) event.preventDefault()
})

addEventListener('pageshow', () => { leaving = false })

if (one('#create')) start()

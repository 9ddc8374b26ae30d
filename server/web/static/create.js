// The form for a new push: the terms of each kind, settings that the browser keeps, and a
// generator. send.js sends it, but offers nothing that may be encrypted before the terms are taken.

const main = document.querySelector('main')
const one = (selector) => main.querySelector(selector)
const all = (selector) => main.querySelectorAll(selector)

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
  const [days, unit, time] = ['#days', '#unit', '#time'].map(one)
  const perDay = { minutes: 1440, hours: 24, days: 1 }[unit.value]
  time.disabled = one('#expires_at').value !== ''
  days.disabled = unit.disabled = time.disabled || time.value !== ''
  one('#timed').hidden = ![...all('[type^=date], #close')].some(({ value }) => value)
  Object.assign(days, { min: perDay > 1 ? 1 : min, max: max * perDay })
  sayWhen()
}

// Says after how long and how many views the secret is deleted, once both are known.
function sayWhen() {
  one('#once').hidden = one('#views').value !== '1' || one('#typed').checked
  const [line, time, { value: n }] = ['#gone', '#time', '#views'].map(one)
  const { lang } = document.documentElement
  const forms = JSON.parse(line.dataset.forms)
  const left = time.value ? time.selectedOptions[0].text
    : one('#days').value > 0 && new Intl.NumberFormat(lang, { style: 'unit', unit: one('#unit').value.slice(0, -1), unitDisplay: 'long' }).format(one('#days').value)
  const text = forms[new Intl.PluralRules(lang).select(n)] ?? forms.other
  line.textContent = left && n > 0 && !time.disabled && !one('#close').value ? text.replace('{time}', left).replace('{count}', n) : line.dataset.always
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
  const url = one('#url')
  if (url) url.disabled = kind().value !== 'url' // a field that is hidden cannot be corrected
  one('#create').dispatchEvent(new CustomEvent('checked', { detail: true }))
}

// Keeps settings in this browser, if the sender asks for it.
const settings = '#time, #days, #unit, #views, #close, #step, #deletable, #encrypt:enabled'
const what = (input) => input.type === 'checkbox' ? 'checked' : 'value'

function kept() {
  try {
    return JSON.parse(localStorage.push)
  } catch {
    // Nothing is kept, or storage is refused.
  }
}

function remember({ target }) {
  if (!one('#remember').checked) return target.id === 'remember' && stored('localStorage', 'push', '')
  const next = { kind: kind().value, more: one('#more').open }
  for (const input of all(settings)) next[input.id] = input[what(input)]
  // This page may be older than what another one keeps.
  if (!['encrypt', 'remember'].includes(target.id)) next.encrypt = kept()?.encrypt ?? next.encrypt
  stored('localStorage', 'push', JSON.stringify(next))
}

function recall() {
  const last = kept()
  if (!last) return
  one('#remember').checked = true
  if (one('.problems') || location.search.includes('_views=')) return // the address has its own
  // The address may name the kind, and a text that was shared into the form has one.
  if (!location.search.includes('kind=') && !one('#payload').defaultValue) for (const radio of all('.kinds input:enabled')) radio.checked ||= radio.value === last.kind
  for (const input of all(settings)) input[what(input)] = last[input.id] ?? input[what(input)]
  one('#more').open ||= last.more
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
  one('#bits').textContent = bits.replace('{bits}', Math.floor(n * Math.log2(from.length)))
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

// Takes the text along from the field for addresses to that for texts, and back.
function carry() {
  const [text, url] = [one('#payload'), one('#url')]
  if (!url) return
  const [from, to] = kind().value === 'url' ? [text, url] : [url, text]
  if (to.value || !from.value || (to === url && !/^\s*https?:\S+\s*$/.test(from.value))) return
  to.value = from.value.trim()
  from.value = ''
}

// Takes a text along into a login: one word is the password, any other text belongs to the note. What was
// typed into a login goes along as its lines. The way back restores what has not changed since.
let carried

function carryLogin() {
  const fields = [one('#payload'), ...all('[data-line]')]
  const [text, ...parts] = fields
  const state = () => fields.map(({ value }) => value)
  const before = state()
  if (carried && String(carried.after) === String(before)) fields.forEach((field, i) => { field.value = carried.before[i] })
  else if (kind().value !== 'login') {
    text.value = [text.value, ...parts.filter(({ value }) => value).map(({ value, dataset }) => dataset.line + value)].filter(Boolean).join('\n')
    for (const part of parts) part.value = ''
  } else if (text.value.trim()) {
    const [password, note] = [one('#login-password'), one('#login-note')]
    const word = /^\s*\S+\s*$/.test(text.value) && !password.value
    if (word) password.value = text.value.trim()
    else note.value = [note.value, text.value].filter(Boolean).join('\n')
    text.value = ''
  }
  carried = { before, after: state() }
}

function start() {
  const form = one('#create')
  carried = undefined
  one('#zone').textContent = Intl.DateTimeFormat().resolvedOptions().timeZone
  form.addEventListener('invalid', () => { one('#more').open = true }, true) // else nothing tells what is wrong
  form.onformdata = ({ formData }) => { // a typed time has no zone
    for (const { name, value } of all('[type^=date]')) if (value) formData.set(name, `${value} ${new Date(value).getTimezoneOffset()}`)
  }
  recall()
  takeTerms()
  let before = kind()
  form.addEventListener('input', ({ target }) => {
    if (target.id === 'passphrase') showStrength()
    sayWhen()
    if (target.closest('#generator')) generate()
  })
  form.addEventListener('change', ({ target }) => {
    if (target.type === 'radio') {
      takeTerms(before.dataset)
      if (before.value === 'login') carryLogin()
      carry()
      if (kind().value === 'login') carryLogin()
      before = kind()
    }
    boundTime()
    if (target.id === 'time' && !target.value) one('#days').select()
    remember({ target })
  })
  form.addEventListener('click', ({ target }) => {
    const opens = target.closest('[data-generate]')
    if (opens) openGenerator(opens)
    else if (target.value === 'more') generate()
    else if (target.matches('#generator button')) use(target.value)
  })
  one('#more').addEventListener('toggle', remember)
  one('#ask').addEventListener('click', () => {
    one('#more').open = one('#typed').checked = true
    one('#typed').focus()
    sayWhen()
  })
}

start()
if (kind().value === 'login') carryLogin() // it was chosen before this script came
main.addEventListener('redrawn', start)
// On a touch screen, a focus would open the keyboard over the form.
if (matchMedia('(hover: hover)').matches && !one('[autofocus]')) one({ url: '#url', file: '#files', login: '#login-user' }[kind().value] ?? '#payload')?.focus()

// Scripts of all pages. Each page also works without them.

const root = document.documentElement
const one = (selector) => document.querySelector(selector)
const all = (selector) => document.querySelectorAll(selector)

// This browser chooses the theme: light, dark, or that of the system.
function dress(theme) {
  if (['light', 'dark'].includes(theme)) root.dataset.theme = theme
  else delete root.dataset.theme
  for (const colour of all('meta[name=theme-color]')) {
    const own = colour.dataset.theme
    colour.media = root.dataset.theme ? (root.dataset.theme === own ? 'all' : 'not all') : `(prefers-color-scheme: ${own})`
  }
}

// Returns what this browser keeps under a name, and keeps what is next instead; "" deletes it.
globalThis.stored = (storage, name, next) => {
  try {
    const all = globalThis[storage]
    const kept = all[name]
    if (next) all[name] = next
    if (next === '') delete all[name]
    return kept
  } catch {
    // Storage is refused: a choice lasts for one page.
  }
}

// Says when a number of seconds will have passed: in 40 seconds, in 2 minutes.
globalThis.until = (seconds) => new Intl.RelativeTimeFormat(root.lang)
  .format(...(seconds > 90 ? [Math.ceil(seconds / 60), 'minute'] : [seconds, 'second']))

dress(stored('localStorage', 'theme'))

for (const choice of all('input[name=theme]')) {
  choice.checked = choice.value === (root.dataset.theme ?? 'auto')
  choice.addEventListener('change', () => {
    dress(choice.value)
    stored('localStorage', 'theme', choice.value)
  })
}

const written = (when, parts) => new Intl.DateTimeFormat(root.lang, parts).format(when)
const day = { month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' }
const minute = 60_000

// How long ago a time was, or how long it is until then; nothing if that is more than a week.
function ago(when) {
  const [, unit, size] = [[minute, 'second', 1000], [60 * minute, 'minute', minute], [48 * 60 * minute, 'hour', 60 * minute], [7 * 1440 * minute, 'day', 1440 * minute]]
    .find(([most]) => Math.abs(when - Date.now()) < most) ?? []
  const since = (when - Date.now()) / size
  return unit && new Intl.RelativeTimeFormat(root.lang, { numeric: 'auto' }).format(unit === 'second' ? 0 : Math.trunc(since), unit)
}

// Writes a time as its reader would: with data-ago how far it is, with data-day the day of the week, with
// data-exact the seconds. The title has all of it.
function write(time, when, { ago: far, day: weekday, exact, brief } = time.dataset) {
  const near = far !== undefined && ago(when)
  if (near) time.textContent = near
  else {
    const year = brief !== undefined || when.getFullYear() === new Date().getFullYear() ? {} : { year: 'numeric' }
    const parts = weekday === undefined ? { ...day, month: 'short', ...(exact !== undefined && { second: '2-digit' }) } : { ...day, weekday: 'long' }
    time.textContent = written(when, { ...parts, ...year })
  }
}

// Completes a page, or what came new to it.
function complete() {
  for (const part of all('[data-script]')) part.hidden = false
  for (const time of all('time[datetime]:not([title])')) {
    const when = new Date(time.dateTime)
    if (isNaN(when)) continue
    time.title = written(when, { dateStyle: 'full', timeStyle: 'long' })
    write(time, when)
  }
}

setInterval(() => {
  for (const time of all('time[data-ago][title]')) write(time, new Date(time.dateTime))
}, minute)

// A message to pass on has a time in UTC: that of the sender takes its place, with its zone.
function addZone() {
  const [words, time, mail] = ['#words', '#ends time', '[href^="mailto:"]'].map(one)
  if (!words || !time) return
  words.value = words.value.replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, () => written(new Date(time.dateTime), { ...day, weekday: 'long', timeZoneName: 'short' }))
  if (mail) mail.href = `mailto:?body=${encodeURIComponent(words.value)}`
}

// On a touch screen, a focus would open the keyboard over the form.
if (matchMedia('(hover: hover)').matches) one('[data-focus]')?.focus()

// Shows a button's data-done in place of its text for two seconds, and announces it.
function done(button) {
  const label = button.querySelector('span') ?? button // beside an icon
  button.dataset.words ??= label.textContent
  button.style.minWidth ||= `${button.offsetWidth}px`
  button.classList.add('done')
  label.textContent = one('#said').textContent = button.dataset.done
  clearTimeout(button.timer)
  button.timer = setTimeout(() => {
    label.textContent = button.dataset.words
    button.classList.remove('done')
    one('#said').textContent = ''
  }, 2000)
}

async function copy(button) {
  const source = one(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent)
  } catch {
    // Plain HTTP has no clipboard API: select the text, and copy it the old way.
    if (source.select) source.select()
    else getSelection().selectAllChildren(source)
    if (!document.execCommand('copy')) return
  }
  done(button)
  button.dispatchEvent(new Event('copied', { bubbles: true }))
}

// Shows or hides a passphrase, or a text of lines; data-done is the button's text in the other state.
function show(button) {
  const field = one(button.dataset.show)
  const label = button.querySelector('span') ?? button
  if (field.rows) field.classList.toggle('masked')
  else field.type = field.type === 'password' ? 'text' : 'password'
  ;[label.textContent, button.dataset.done] = [button.dataset.done, label.textContent]
}

// A fragment may be the key of a push: the link to the content must not replace it.
one('.skip').addEventListener('click', (event) => {
  event.preventDefault()
  one('#main').focus()
})

// It goes along: through a sign-in, and into another language, whose links are in a menu.
for (const form of all('main form[action*="/users/sign_in"]')) form.action += location.hash
document.addEventListener('toggle', () => {
  for (const link of all('a[hreflang]')) link.hash = location.hash
}, true)

const menus = ':is(.menu, .pop)[open]'

document.addEventListener('click', ({ target }) => {
  const button = target.closest('[data-copy], [data-show]')
  if (button?.dataset.copy) copy(button)
  else if (button) show(button)
  for (const menu of all(menus)) menu.open = menu.contains(target)
})

// What opens over the page closes as soon as it is left: it must not cover the focus.
document.addEventListener('focusout', ({ target, relatedTarget }) => {
  const menu = target.closest(menus)
  if (menu && relatedTarget && !menu.contains(relatedTarget)) menu.open = false
})

// A box with data-all ticks the boxes of a form.
document.addEventListener('change', ({ target }) => {
  for (const box of target.dataset.all ? all(`[form=${target.dataset.all}][type=checkbox]`) : []) box.checked = target.checked
})

document.addEventListener('keydown', ({ key, target }) => {
  const menu = key === 'Escape' && target.closest(menus)
  if (!menu) return
  menu.open = false
  menu.firstElementChild.focus()
})

// Sends a form only once: a second click before the answer would spend another view.
// After a while the button works again, since the answer may be lost.
const resend = 10_000

document.addEventListener('submit', (event) => {
  const { target: form, timeStamp } = event
  if (timeStamp - (form.sentAt ?? -resend) < resend) event.preventDefault()
  else if (!event.defaultPrevented) form.sentAt = timeStamp
})

// A reader who comes back may send it again.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) for (const form of document.forms) delete form.sentAt
})

// By now the links to the content and to other languages keep the end of the address.
complete()
addZone()
document.addEventListener('redrawn', complete)

// The scripts of a form leave the connection to what its first paint needs. They run in their order.
for (const { content } of all('template[data-late]')) {
  for (const script of content.children) script.async = false
  document.head.append(content)
}

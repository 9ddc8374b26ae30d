// The page of an opened push: it covers the text when the reader leaves, downloads files with
// progress, keeps them available, and leaves nothing behind.

const one = (selector) => document.querySelector(selector)
const page = one('#opened')
const { step } = page.dataset

// Reloading and going back lead to the step, and spend no view.
history.replaceState(null, '', step + location.hash)

addEventListener('pagehide', () => page.replaceChildren())
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && location.hash) location.reload()
  else if (persisted) location.replace(step)
})

const text = one('#secret')
const boxes = [...document.querySelectorAll('.secret')] // of the text, and of a login in fields
const fold = (box) => box.closest('details')
const coverAfter = 5 * 60_000 // without a sign of a reader
let covered = false
let covering

// Covers what is not behind a toggle, and closes toggles.
function cover() {
  if (one('.keep :checked')) return
  hide()
}

function hide() {
  covered = true
  for (const box of boxes) {
    if (fold(box)) {
      fold(box).open = false
      continue
    }
    const focused = box.contains(document.activeElement)
    box.classList.add('veiled')
    box.firstElementChild.inert = true
    if (focused) box.lastElementChild.focus()
  }
}

function uncover() {
  covered = false
  for (const box of boxes) {
    box.classList.remove('veiled')
    box.firstElementChild.inert = false
  }
  touch()
}

function touch() {
  clearTimeout(covering)
  covering = setTimeout(cover, coverAfter)
}

if (text?.dataset.exact) {
  // HTML cannot hold every character.
  const bytes = Uint8Array.from(atob(text.dataset.exact), (c) => c.charCodeAt(0))
  text.textContent = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

// The text of a QR code is behind a toggle alone.
if (boxes.some((box) => !fold(box))) {
  if ('covered' in boxes[0].dataset) cover()
  else touch()
  for (const { firstElementChild: content, lastElementChild: veil } of boxes) {
    veil.addEventListener('click', () => {
      uncover()
      content.focus()
    })
  }
  for (const sign of ['pointerdown', 'pointermove', 'keydown', 'scroll']) {
    document.addEventListener(sign, () => covered || touch(), { capture: true, passive: true })
  }
  document.addEventListener('visibilitychange', () => document.hidden && cover())
  for (const button of document.querySelectorAll('.hide')) button.addEventListener('click', () => {
    hide()
    button.closest('.shown').querySelector('.veil').focus()
  })
  // Without a clipboard API, copying selects the text, which must not be covered.
  one('[data-copy="#secret"]').addEventListener('click', () => navigator.clipboard ?? uncover())
}

// A selection of the whole text is copied exactly, including its last line feed.
document.addEventListener('copy', (event) => {
  const { anchorNode, focusNode } = getSelection()
  if (!text || anchorNode !== text || focusNode !== text) return
  event.clipboardData.setData('text/plain', text.textContent)
  event.preventDefault()
})

// For a minute after something was copied, the clipboard can be cleared. Only what it has now goes: so
// the page says what may have a copy. Without a clipboard API, nothing can clear it.
const clear = one('#clear')
const [empty, cleared] = clear.children
let clearing

document.addEventListener('copied', ({ target }) => {
  if (!navigator.clipboard) return
  const hide = () => {
    if (clear.contains(document.activeElement)) target.focus()
    clear.hidden = true
  }
  clearTimeout(clearing)
  clearing = setTimeout(hide, 60_000)
  clear.hidden = empty.hidden = false
  cleared.hidden = true
  empty.onclick = () => navigator.clipboard.writeText('').then(() => {
    target.focus()
    empty.hidden = true
    cleared.hidden = false
    one('#said').textContent = cleared.textContent
  }, () => {}) // the browser lets the page write no more, and nothing is said
})

// The address of the page that it was opened on may have a key, which the link lacks.
one('#back')?.addEventListener('click', (event) => {
  event.preventDefault()
  history.back()
})

one('#print').addEventListener('click', () => print())

// Files up to this many bytes are assembled here. For larger ones the browser shows the
// progress.
const largest = 200 * 2 ** 20

function counting(progress) {
  return new TransformStream({
    transform(chunk, out) {
      progress.value += chunk.length
      out.enqueue(chunk)
    },
  })
}

function save(blob, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

// Asks where to save a large file that is decrypted here, if the browser lets a page save
// one piece by piece.
async function target({ decrypting, dataset: { size, name } }) {
  if (!decrypting || size <= largest || !globalThis.showSaveFilePicker) return
  const file = await showSaveFilePicker({ suggestedName: name })
  return file.createWritable() // which has its name only once it is whole
}

async function download(link) {
  const row = link.closest('li')
  const progress = row.querySelector('progress')
  const error = row.querySelector('.error')
  link.ariaBusy = 'true'
  error.hidden = true
  progress.value = 0
  progress.hidden = false
  try {
    const into = await target(link)
    const answer = await fetch(link.href)
    if (!answer.ok) throw new Error(answer.status)
    let body = answer.body.pipeThrough(counting(progress))
    if (link.decrypting) body = body.pipeThrough(link.decrypting())
    if (into) await body.pipeTo(into)
    else save(await new Response(body).blob(), link.dataset.name)
    row.querySelector('.had').hidden = false
    one('#said').textContent = link.dataset.said
  } catch ({ name }) {
    error.textContent = row.parentElement.dataset.failed
    error.hidden = name === 'AbortError' // the reader chose no place
  }
  progress.hidden = true
  link.ariaBusy = 'false'
}

const links = [...document.querySelectorAll('.files a')]
const encrypted = 'module' in page.dataset

for (const link of links) {
  if (!encrypted && link.dataset.size > largest) continue
  link.addEventListener('click', (event) => {
    if (!encrypted && (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) return
    event.preventDefault()
    if (link.ariaBusy !== 'true') download(link)
  })
}

// Encrypted files are decrypted here, so the server cannot put them into one archive. A browser
// lets a click choose the place of one large file only.
const each = one('#each')
if (links.some(({ dataset: { size } }) => size > largest)) each?.remove()
each?.addEventListener('click', async () => {
  each.disabled = true
  for (const link of links) if (link.ariaBusy !== 'true') await download(link)
  each.disabled = false
})

// Asking for one byte renews the grant, which keeps all files available.
const any = links.find((link) => link.dataset.size > 0)
if (any) {
  const { renew } = any.closest('.files').dataset
  const renewing = setInterval(async () => {
    const answer = await fetch(any.href, { headers: { Range: 'bytes=0-0' } }).catch(() => undefined)
    if (answer?.status === 404) clearInterval(renewing)
  }, renew * 1000)
}

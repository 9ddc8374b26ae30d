// The receipt of a push: it gives the link its key, and looks for news.

const main = document.querySelector('main')
const one = (selector) => main.querySelector(selector)
const words = one('#words')

// The key of a push that its sender encrypted is in the fragment of this page's address, and
// belongs to the link.
function addKey() {
  const link = one('#link')
  const { hash } = location
  if (!/^#[a-z][\w-]{48,}$/.test(hash)) {
    const box = one('#keyless')
    box.hidden = false
    one('h1').textContent = box.dataset.title
    return
  }
  for (const part of main.querySelectorAll('.keyed')) part.hidden = false
  const plain = link.value
  one('#key').value = hash.slice(1)
  for (const field of [link, words]) field.value = field.value.replace(plain, plain + hash)
  one('#mail').href = `mailto:?body=${encodeURIComponent(words.value)}`
  for (const other of main.querySelectorAll('a[target]')) other.hash = hash
  for (const form of main.querySelectorAll('#naming, #thaw')) form.action += hash // they lead back here
  const box = one('#drawn')
  import(box.dataset.draw).then(({ draw }) => draw(box, link.value)).then(() => { box.hidden = false })
}

// Asks for this page again while it is seen: after 15 seconds, and then less and less often,
// until nothing has come for three quarters of an hour.
const first = 15_000, last = 600_000
let wait = first
let asked = performance.now()
let timer

function look(after = wait) {
  clearTimeout(timer)
  if (!document.hidden && wait < last && one('#link')) timer = setTimeout(ask, after)
}

function ask() {
  asked = performance.now()
  wait *= 1.25
  const request = new XMLHttpRequest()
  request.open('GET', '')
  request.responseType = 'document'
  request.onload = () => request.status === 200 && redraw(request.response)
  request.onloadend = () => look()
  request.send()
}

function redraw(page) {
  const [now, next] = [one('.events'), page.querySelector('.events')]
  const live = page.querySelector('#link')
  const news = (list) => [...list?.children ?? []].filter(({ className }) => className !== 'next')
  if (!next || (live && news(next).length === news(now).length)) return
  wait = first
  const focused = main.contains(document.activeElement)
  if (live) {
    now.replaceWith(next)
    one('.used').replaceWith(page.querySelector('.used'))
    if (!page.querySelector('#anew')) one('#anew')?.remove()
    one('#frozen').hidden = page.querySelector('#frozen').hidden
  } else main.replaceChildren(...page.querySelector('main').childNodes)
  main.dispatchEvent(new Event('redrawn', { bubbles: true }))
  if (focused && !live) one('h1').focus()
  document.querySelector('#said').textContent = news(next).at(-1).firstElementChild.textContent
}

document.addEventListener('visibilitychange', () => {
  wait = first
  look(asked + first - performance.now())
})

if (one('#keyless')) {
  one('.late').remove()
  addKey()
}
look()

// Apps put the link, with its key, behind the text themselves.
if (navigator.share) {
  const button = one('#share')
  button.hidden = false
  button.addEventListener('click', () => {
    const url = one('#link').value
    const text = words.value.replace(url, '').replace(/ +$/gm, '')
    navigator.share({ title: button.dataset.title, text, url }).catch(() => undefined) // the sender closed the dialog
  })
}

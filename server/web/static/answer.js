// The link of a request ends with the fingerprint of its public keys, which begins with a. Nothing
// is sent to other keys, nor to a page without keys whose link has such an end. An end may also be
// nothing, or a place on the page. A redirect can replace it, so nothing is sent after one.

const one = (selector) => document.querySelector(selector)
const isPlace = (hash) => hash.length < 2 || (!/^#a/i.test(hash) && document.getElementById(hash.slice(1)))

let came = location.hash // the end of the link
let right // the form that may be sent

async function check() {
  const form = one('[data-sends]')
  const { keys, changed = '' } = form.dataset
  const moved = performance.getEntriesByType('navigation')[0]?.redirectCount
  right = undefined
  if (moved) {
    came = '#a-' // which no keys have: so it stays, also after a reload
    history.replaceState(null, '', came)
  }
  if (!isPlace(came)) {
    for (const other of document.querySelectorAll('a[hreflang]')) other.hash = came
    try {
      await (await import(keys)).checkFingerprint(came.slice(1), form.dataset)
    } catch {
      form.hidden = true
      one('#closed').hidden = false
      one('#closed').textContent = changed
      return
    }
  }
  right = form
}

// A place on the page does not take the place of the fingerprint, or a reload would lose that.
addEventListener('hashchange', () => {
  if (isPlace(location.hash) && !isPlace(came)) history.replaceState(null, '', came)
  else came = location.hash
  check()
})

document.addEventListener('redrawn', check)
document.addEventListener('submit', async (event) => {
  if (right && event.target === right) return
  event.preventDefault()
  event.stopImmediatePropagation()
  await check()
  if (right) event.target.requestSubmit()
}, { capture: true })
check()

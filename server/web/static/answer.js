// The link of a request ends with the fingerprint of its public keys. Nothing is sent to other
// keys, nor by a page without keys to a link with such an end. An end may also be nothing, or a
// place on the page. A redirect can replace it, so nothing is sent after one. send.js keeps the
// form hidden until this script says that it may be sent.

const one = (selector) => document.querySelector(selector)
const places = ['', '#main', '#payload', '#files']

let came = location.hash // the end of the link
let last // the check that counts; nothing once it has ended

function run() {
  const mine = last = check().finally(() => {
    if (last === mine) last = undefined
  })
}

// Finds out whether the form may be sent, or says why not.
async function check() {
  const form = one('[data-sends]')
  const { keys, changed = '', https = '', endless, unloaded = '' } = form.dataset
  if (performance.getEntriesByType('navigation')[0]?.redirectCount) {
    came = '#a-' // which no keys have: so it stays, also after a reload
    history.replaceState(null, '', came)
  }
  const end = came
  const bound = !places.includes(end)
  let why = keys && !crypto.subtle ? https : undefined
  const fits = ({ checkFingerprint }) => checkFingerprint(end.slice(1), form.dataset)
  if (bound) why ??= keys ? await import(keys).then(fits).catch(({ reason }) => reason ? changed : unloaded) : changed
  if (end !== came || !form.isConnected) return // it is checked again
  if (form.dispatchEvent(new CustomEvent('checked', { cancelable: true, detail: why === undefined }))) why ??= unloaded // send.js did not come
  const good = why === undefined
  const closed = one('#closed')
  closed.classList.remove('late')
  closed.textContent = why ?? endless
  closed.hidden = good && (bound || !keys)
  one('.send').hidden = !good
  one('#promise').hidden = !closed.hidden
  if (!good) closed.focus()
}

// A place on the page does not take the place of the fingerprint, or a reload would lose that.
addEventListener('hashchange', () => {
  if (!places.includes(location.hash)) came = location.hash
  else if (!places.includes(came)) history.replaceState(null, '', came)
  run()
})

document.addEventListener('redrawn', run)
document.addEventListener('submit', async (event) => {
  if (places.includes(came) && !places.includes(location.hash)) { // scripts can do that without an event
    came = location.hash
    run()
  }
  if (!last) return
  event.preventDefault()
  event.stopImmediatePropagation()
  await last
  event.target.requestSubmit() // send.js knows by now
}, { capture: true })
run()

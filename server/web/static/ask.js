// The form for a new request, which send.js sends. It leads to an address with the private keys behind
// "#". request.js gets them apart from it, too: a redirect can replace them there.

const one = (selector) => document.querySelector(selector)

// Passes the keys of a request that was made on. Where storage is refused, its owner compares the address.
function pass(event) {
  const { detail: href, target: form } = event
  const { hash, pathname } = new URL(href)
  const asked = hash && pathname + hash
  stored('sessionStorage', 'asked', asked)
  if (!hash || stored('sessionStorage', 'asked') === asked) return
  event.preventDefault()
  addEventListener('beforeunload', (leave) => leave.preventDefault())
  const told = one('#told')
  told.firstElementChild.textContent = form.dataset.unkept
  told.append(Object.assign(document.createElement('a'), { href, textContent: href }))
  told.hidden = told.inert = false
  form.replaceWith(told)
  told.focus()
}

function start() {
  if (!globalThis.stored) return // app.js did not come
  one('#ask').addEventListener('made', pass)
  one('#ask').dispatchEvent(new CustomEvent('checked', { detail: true }))
}

document.addEventListener('redrawn', start)
start()

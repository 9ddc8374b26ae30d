// The form for a new request, which send.js sends. It leads to an address with the private keys behind
// "#", which are kept for request.js, too: a redirect can replace them there.

const one = (selector) => document.querySelector(selector)

function start() {
  stored('sessionStorage', 'asked', '')
  const form = one('#ask')
  form.addEventListener('made', (event) => {
    const { detail: href } = event
    const { hash } = new URL(href)
    const asked = hash && Date.now() + hash
    stored('sessionStorage', 'asked', asked)
    if (!hash || stored('sessionStorage', 'asked') === asked) return
    // Storage is refused: the owner has to compare the address.
    event.preventDefault()
    const told = one('#told')
    told.firstElementChild.textContent = form.dataset.unkept
    told.append(Object.assign(document.createElement('a'), { href, textContent: href }))
    told.hidden = told.inert = false
    form.replaceWith(told)
    told.focus()
  })
  form.dispatchEvent(new CustomEvent('checked', { detail: true }))
}

document.addEventListener('redrawn', start)
start()

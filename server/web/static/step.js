// Counts down until a passphrase can be tried again. Until then the form cannot be sent.

const wait = document.querySelector('#wait')
const controls = document.querySelectorAll('form input, form button')
const { seconds, words, over } = wait.dataset
const end = performance.now() + seconds * 1000

function count() {
  const left = Math.ceil((end - performance.now()) / 1000)
  if (left <= 0) return finish()
  wait.textContent = words.replace('{when}', until(left))
}

function finish() {
  clearInterval(counting)
  for (const control of controls) control.disabled = false
  wait.textContent = over
  document.querySelector('#passphrase').focus()
}

for (const control of controls) control.disabled = true
wait.focus()
const counting = setInterval(count, 1000)
count()

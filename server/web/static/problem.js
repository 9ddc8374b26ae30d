// Counts down until a page can be tried again, and then offers it.

const [wait, again] = ['#wait', '#again'].map((id) => document.querySelector(id))
const end = performance.now() + wait.dataset.seconds * 1000
const format = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: 'always' })

function count() {
  const left = Math.max(0, Math.ceil((end - performance.now()) / 1000))
  again.hidden = left > 0
  wait.hidden = !left
  wait.textContent = wait.dataset.words.replace('{when}', left > 90 ? format.format(Math.ceil(left / 60), 'minute') : format.format(left, 'second'))
  if (!left) clearInterval(counting)
}

const counting = setInterval(count, 1000)
count()

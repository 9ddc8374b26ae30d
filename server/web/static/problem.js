// Counts down until a page can be tried again, and then offers it. A form that was refused is the page before this one.

const [wait, again, said] = ['#wait', '#again', '#said'].map((id) => document.querySelector(id))
const end = performance.now() + (wait?.dataset.seconds ?? 0) * 1000

function count() {
  const left = Math.max(0, Math.ceil((end - performance.now()) / 1000))
  again.hidden = left > 0
  if (left) wait.textContent = wait.dataset.words.replace('{when}', until(left))
  else clearInterval(counting)
  if (left || !wait) return
  wait.hidden = true
  said.textContent = again.textContent
}

again.addEventListener('click', (event) => {
  if (again.dataset.back === undefined) return
  event.preventDefault()
  history.back()
})

const counting = setInterval(count, 1000)
count()

// The receipt of a push that its sender encrypted: the key is in the fragment of this page's
// address, and belongs to the link.

const main = document.querySelector('main')
const { hash } = location
const link = main.querySelector('#link')

if (link && hash) {
  const plain = link.value
  for (const field of main.querySelectorAll('#link, #words')) field.value = field.value.replace(plain, plain + hash)
  for (const other of main.querySelectorAll('a[target], #again')) other.hash = hash
} else if (link) {
  for (const part of main.querySelectorAll('.keyed')) part.hidden = true
  main.querySelector('#keyless').hidden = false
}

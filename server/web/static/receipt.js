// The receipt of a push that its sender encrypted: the key is in the fragment of this page's
// address, and belongs to the link.

const main = document.querySelector('main')
const { hash } = location
const link = main.querySelector('#link')

// Draws the QR code of a text, as the server draws those of links without a key.
async function draw(text) {
  const box = main.querySelector('#drawn')
  const { encode } = await import(box.dataset.module)
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
  const [svg, light, dark] = box.querySelectorAll('svg, rect, path')
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`)
  for (const part of [svg, light]) for (const side of ['width', 'height']) part.setAttribute(side, size)
  dark.setAttribute('d', data.flatMap((row, y) => row.flatMap((on, x) => on ? `M${x} ${y}h1v1h-1z` : [])).join(''))
  box.hidden = false
}

if (link && /^#[a-z][\w-]{48,}$/.test(hash)) {
  const plain = link.value
  for (const field of main.querySelectorAll('#link, #words')) field.value = field.value.replace(plain, plain + hash)
  for (const other of main.querySelectorAll('a[target], #again')) other.hash = hash
  draw(link.value)
} else if (link) {
  for (const part of main.querySelectorAll('.keyed')) part.hidden = true
  main.querySelector('#keyless').hidden = false
}

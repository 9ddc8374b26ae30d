// Draws the QR code of a text in a box, as the server draws those of links that it knows whole.
export async function draw(box, text) {
  const { encode } = await import(box.dataset.module)
  const { size, data } = encode(text, { ecc: 'M', border: 4 })
  const [svg, light, dark] = box.querySelectorAll('svg.qr, .qr-light, .qr-dark')
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`)
  for (const part of [svg, light]) for (const side of ['width', 'height']) part.setAttribute(side, size)
  dark.setAttribute('d', data.flatMap((row, y) => row.flatMap((on, x) => on ? `M${x} ${y}h1v1h-1z` : [])).join(''))
}

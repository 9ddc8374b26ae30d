import jsQR from 'jsqr'

// scanned returns the text of the QR code on the page.
export async function scanned({ page }) {
  const { side, pixels } = await page.locator('figure.qr svg').evaluate((svg) => {
    const scale = 4
    const side = svg.viewBox.baseVal.width * scale
    const context = Object.assign(document.createElement('canvas'), { width: side, height: side }).getContext('2d')
    context.scale(scale, scale)
    for (const part of svg.children) {
      context.fillStyle = getComputedStyle(part).fill
      context.fill(new Path2D(part.getAttribute('d') ?? `M0 0h${side}v${side}h-${side}z`))
    }
    return { side, pixels: [...context.getImageData(0, 0, side, side).data] }
  })
  return jsQR(Uint8ClampedArray.from(pixels), side, side)?.data
}

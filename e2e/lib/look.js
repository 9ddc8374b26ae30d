import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

import { spoken } from './words.js'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const widths = [320, 1280]
const themes = ['light', 'dark']
const rules = {
  light: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  dark: { type: 'rule', values: ['color-contrast', 'color-contrast-enhanced'] }, // the theme changes nothing but colours
}

// The languages that $PUSHBOX_E2E_LANGUAGES names. Their pictures are for people who look at them, in the sizes
// of a phone, a notebook and a large screen; axe has checked the same pages in English, and is left out.
export const pictured = process.env.PUSHBOX_E2E_LANGUAGES?.split(',')
const screens = { 375: 667, 1366: 768, 1920: 1080 }

// look checks the present page in both themes and at two widths: axe finds no violation
// of WCAG 2.2 A and AA, nor of the contrast of AAA, and nothing is wider than the window. It saves pictures in
// $PUSHBOX_E2E_SHOTS if that is set.
export async function look(guest, name) {
  const { page } = guest
  await guest.ready()
  if (pictured) return photograph(guest, name)
  await page.evaluate(axe)
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    await fits(guest, `${name} at ${width}`)
    assert.doesNotMatch(await page.locator('body').innerText(), /<\/\w/, `${name} at ${width} shows markup, such as that for browsers without scripts`)
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme })
      await keep(page, `${name}-${theme}-${width}`)
      const { violations } = await page.evaluate(
        (runOnly) => window.axe.run({ runOnly, rules: { 'color-contrast-enhanced': { enabled: true } }, resultTypes: ['violations'] }),
        rules[theme],
      )
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join('\n')}`,
      )
      assert.deepEqual(found, [], `${name}, ${theme}, at ${width}`)
    }
  }
}

// photograph takes a picture of the present page for each theme and screen, after it has checked that the page fits.
async function photograph(guest, name) {
  const { page } = guest
  for (const [width, height] of Object.entries(screens)) {
    await page.setViewportSize({ width: Number(width), height })
    await fits(guest, `${name} in ${spoken} at ${width}`)
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme })
      await keep(page, `${name}-${spoken}-${theme}-${width}`)
    }
  }
}

// fits fails if a page is wider than the window.
export async function fits({ page }, name) {
  const wide = await page.evaluate(() => {
    if (document.documentElement.scrollWidth <= innerWidth) return []
    return [...document.querySelectorAll('body *')]
      .filter((el) => el.getBoundingClientRect().right > innerWidth + 0.5)
      .map((el) => el.outerHTML.slice(0, 120))
  })
  assert.deepEqual(wide, [], name)
}

async function keep(page, name) {
  const folder = process.env.PUSHBOX_E2E_SHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true })
}

// A page of all parts that pages are made of, which server/web/look.md lists. The product has no such page:
// a test answers with it.

import { readFileSync } from 'node:fs'

const part = readFileSync(new URL('../../server/web/templates/part_icon.html', import.meta.url), 'utf8')
const icons = Object.fromEntries([...part.matchAll(/if eq \. "(\w+)"}}(.+?)(?:\n|\{\{)/g)].map(([, name, drawing]) => [name, drawing]))
const icon = (name) => `<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${icons[name]}</svg>`

const sheet = (title, inside) => `<section class="sheet"><h2>${title}</h2>${inside}</section>`

const main = () => `
<h1>Parts</h1>
<p class="lead">What pages are made of.</p>
${sheet('Type', '<h1>Heading one</h1><h2>Heading two</h2><h3>Heading three</h3><p>Body with a <a href="#main">link</a> and <code>code</code>.</p><p class="hint">A hint.</p>')}
${sheet('Icons', `<p>${Object.keys(icons).map((name) => `<span title="${name}">${icon(name)}</span>`).join(' ')}</p>`)}
${sheet('Buttons', `<div class="buttons"><button>${icon('copy')}<span>Primary</span></button><button class="quiet">Secondary</button><button class="ghost">${icon('mail')}Ghost</button><button class="only" title="Alone">${icon('trash')}<span class="unseen">Alone</span></button><button class="danger">Destroy</button><button class="quiet small">Small</button><button class="plain">Plain</button><button disabled>Disabled</button></div>`)}
${sheet('Segments', `<fieldset class="kinds"><legend class="unseen">Kinds</legend>${['text', 'key', 'file', 'link', 'qr'].map((name, i) => `<input type="radio" name="k" id="k-${name}"${i ? '' : ' checked'}><label for="k-${name}">${icon(name)}<span>${name}</span></label>`).join('')}</fieldset>`)}
${sheet('Fields', `<div class="pair"><div class="field"><label for="f">Label</label><p class="hint" id="f-hint">A hint.</p><input id="f" aria-describedby="f-hint"></div><div class="field"><label for="g">Wrong</label><input id="g" value="x" aria-invalid="true" aria-describedby="g-error"><p class="error" id="g-error">It is wrong.</p></div></div>
<div class="field"><div class="box"><label for="b">Text</label><textarea id="b" rows="2" placeholder=" "></textarea><div class="foot"><button class="ghost small">${icon('key')}Foot</button></div></div></div>
<label class="check"><input type="checkbox" checked><span>Check <small>What it does.</small></span></label><label class="check switch"><input type="checkbox" role="switch" checked><span>Switch</span></label>`)}
${sheet('Disclosure and dialog', '<details class="more" open><summary>More <span class="set"><span>one</span><span>two</span></span></summary><p>Inside.</p></details><details class="pop link danger"><summary>Delete…</summary><form><p class="hint">It is gone after this.</p><button class="danger small">Delete it now</button></form></details>')}
${sheet('Notices', '<div class="notice"><p>News.</p></div><div class="notice success"><p>Done.</p></div><div class="notice warning"><p>Mind this.</p></div><div class="notice danger"><p>Beware.</p></div><div class="problems"><h2>One thing is wrong</h2><ul><li><a href="#g">It is wrong.</a></li></ul></div>')}
${sheet('Badges', '<p class="badges"><span class="badge live">Active</span><span class="badge warn">Soon</span><span class="badge gone">Deleted</span><span class="badge kind">Kind</span></p>')}
<table class="cards rows"><caption class="unseen">Rows</caption><thead><tr><th scope="col">Name</th><th scope="col">Views</th><th scope="col"><span class="unseen">Actions</span></th></tr></thead><tbody>
${['One', 'Another'].map((name) => `<tr><th scope="row" class="long"><div class="line"><span>${icon('text')}</span><a href="#main">${name}</a><span class="about"><span class="warn">1 wrong passphrase</span><span>Passphrase</span></span></div></th><td data-label="Views">3 of 5<svg class="used" viewBox="0 0 5 1" preserveAspectRatio="none" aria-hidden="true"><rect width="3" height="1"/></svg></td><td><div class="buttons"><button class="only" title="Copy">${icon('copy')}<span class="unseen">Copy ${name}</span></button></div></td></tr>`).join('')}
</tbody></table>
<div class="sheet envelope"><svg class="seal" viewBox="0 0 32 32" aria-hidden="true"><circle class="wax" cx="16" cy="16" r="14"/></svg><h1>Envelope</h1><p class="lead">Closed.</p><div class="tear"><h2>Activity</h2><ul class="events"><li><span class="event creation">Created</span> <span>now</span></li><li><span class="event failed_passphrase">Wrong</span></li><li><span class="event next">Not opened yet</span></li></ul></div></div>
<div class="open"><div class="letter"><h1>Letter</h1><div class="shown"><div class="secret"><pre tabindex="0">secret</pre></div></div></div><div class="pocket"><p>4 views left</p></div></div>
<div class="empty"><h2>Nothing here</h2><p>What comes is listed here.</p></div>`

// goToStyleguide opens the page at an address that pushbox answers with 404.
export async function goToStyleguide({ page, at }) {
  const home = await (await page.goto(`${at}/help/api`)).text() // it has the styles of lists, too
  const head = /<head>[\s\S]+<\/head>/.exec(home)[0]
  const body = `<!doctype html><html lang="en">${head}<body><a class="skip" href="#main" hidden>Skip</a><main id="main" tabindex="-1">${main()}</main><div id="said" class="unseen" role="status"></div></body></html>`
  await page.route(`${at}/styleguide`, (route) => route.fulfill({ contentType: 'text/html', body }))
  await page.goto(`${at}/styleguide`)
}

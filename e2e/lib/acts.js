// What people do on the pages, by the texts they read there.

import { soon } from './journal.js'
import { say } from './words.js'

// signIn signs in an account.
export async function signIn(guest, { email, password }) {
  await guest.go('/users/sign_in')
  await guest.page.getByLabel(say('sign_in_email')).fill(email)
  await guest.page.getByLabel(say('sign_in_password'), { exact: true }).fill(password)
  await guest.page
    .locator('main')
    .getByRole('button', { name: say('sign_in_go'), exact: true })
    .click()
}

// arriveSignedIn signs in an account and waits until that is done.
export async function arriveSignedIn(guest, account) {
  await signIn(guest, account)
  await guest.page.locator('header nav .menu').waitFor()
}

// arriveNew returns a guest who is signed in to an account of their own.
export async function arriveNew(scene, t, options) {
  const guest = await scene.guest(t, options)
  const account = await scene.account()
  await arriveSignedIn(guest, account)
  return { guest, account }
}

// chooseKind chooses the kind of a new push.
export async function chooseKind(guest, kind) {
  await guest.page
    .getByRole('group', { name: say('create_kind') })
    .getByText(say(`create_kind_${kind}`), { exact: true })
    .click()
}

// skipChecks lets the form be sent without the browser's own checks.
export async function skipChecks(guest) {
  await guest.page.locator('#create').evaluate((form) => {
    form.noValidate = true
  })
}

// fillPush fills in the given fields of a new push.
export async function fillPush(guest, { kind, payload, days, views, passphrase, step, deletable, encrypt, name, note, files }) {
  const { page } = guest
  if (kind) await chooseKind(guest, kind)
  if (payload !== undefined) await page.locator('#payload:visible, #url:visible').fill(payload)
  if (days !== undefined) {
    await page.getByLabel(say('create_time'), { exact: true }).selectOption(say('create_time_other'))
    await page.getByLabel(say('create_time_number'), { exact: true }).fill(String(days))
  }
  if (views !== undefined) await page.getByLabel(say('create_views'), { exact: true }).fill(String(views))
  const folded = [step, deletable, encrypt, name, note].some((value) => value !== undefined)
  if (folded && !(await page.locator('#more').evaluate((more) => more.open))) await page.getByText(say('create_options')).click()
  if (passphrase !== undefined) await page.locator('#passphrase').fill(passphrase)
  if (step !== undefined) await page.locator('#step').setChecked(step)
  if (deletable !== undefined) await page.locator('#deletable').setChecked(deletable)
  if (encrypt !== undefined) await page.locator('#encrypt').setChecked(encrypt)
  if (name !== undefined) await page.locator('#name').fill(name)
  if (note !== undefined) await page.locator('#note').fill(note)
  if (files !== undefined) await page.locator('#files').setInputFiles(files)
}

// sendPush sends the form.
export async function sendPush(guest) {
  await guest.page.getByRole('button', { name: say('create_submit'), exact: true }).click()
}

// makePush creates a push on the page and returns its link.
export async function makePush(guest, push) {
  await guest.go('/')
  await fillPush(guest, push)
  await sendPush(guest)
  return madeLink(guest)
}

// ask sends the form for a request, and waits for its page.
export async function ask(guest, { text = 'The password of web-03', answers, kinds, encrypt }) {
  const { page } = guest
  await guest.go('/requests/new')
  await page.getByLabel(say('ask_text')).fill(text)
  if (answers !== undefined) await page.getByLabel(say('ask_answers')).fill(String(answers))
  if (encrypt !== undefined || kinds !== undefined) {
    await page.getByText(say('create_options')).click()
    if (encrypt !== undefined) await page.locator('#encrypt').setChecked(encrypt)
    if (kinds !== undefined) await page.getByLabel(say('ask_kinds')).selectOption(kinds)
  }
  await guest.press(say('create_submit'))
  await guest.wholePage({ level: 1, name: say('request_title') })
}

// askFor makes a request on the page, and returns its link and the address of its own page.
export async function askFor(guest, request) {
  const { page } = guest
  await ask(guest, request)
  if (page.url().includes('#')) await page.waitForFunction(() => document.querySelector('#link').value.includes('#'))
  return { own: page.url(), link: await page.getByLabel(say('request_link'), { exact: true }).inputValue() }
}

// answer sends a text and files by the form of a request.
export async function answer(guest, link, { text, files }) {
  await guest.go(link)
  if (text !== undefined) await guest.page.getByLabel(say('answer_text')).fill(text)
  if (files !== undefined) await guest.page.locator('#files').setInputFiles(files)
  await guest.press(say('answer_send'))
}

// sent waits for the confirmation of an answer.
export async function sent(guest) {
  await guest.wholePage({ level: 1, name: say('sent_title') })
}

// madeLink returns the link of the push that was just created.
export async function madeLink(guest) {
  await guest.wholePage({ level: 1, name: say('made_heading') })
  return guest.page.getByLabel(say('made_link'), { exact: true }).inputValue()
}

// tokenOf returns the url_token in a link.
export function tokenOf(link) {
  return new URL(link).pathname.split('/')[2]
}

// openPush opens a push by its link, with the button if there is one.
export async function openPush(scene, guest, push, passphrase) {
  await guest.go(scene.link(push, { url: guest.at }))
  if (passphrase !== undefined) await guest.page.getByLabel(say('step_passphrase'), { exact: true }).fill(passphrase)
  const button = guest.page.getByRole('button', { name: say('step_open'), exact: true })
  if (await button.count()) await button.click()
}

// opened waits for the page with the secret.
export async function opened(guest) {
  await guest.wholePage({ level: 1, name: say('reveal_title') })
}

// copy presses a button that copies, and waits until one says so, which it does for two seconds.
export async function copy(guest, button) {
  const said = guest.page.evaluate((words) => new Promise((resolve) => {
    const look = () => [...document.querySelectorAll('button')].some(({ textContent }) => textContent === words) && resolve()
    new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true })
  }), say('reveal_copied'))
  await (typeof button === 'string' ? guest.page.getByRole('button', { name: button, exact: true }) : button).click()
  await soon(said, 'a button to say that it has copied')
}

// unveil shows the text, and returns it. A text that was encrypted is not there at once.
export async function unveil(guest) {
  await guest.page.locator('#secret').waitFor()
  const veil = guest.page.locator('.veiled').getByRole('button', { name: say('reveal_unveil') })
  if (await veil.isVisible()) await veil.click()
  return guest.page.locator('#secret').textContent()
}

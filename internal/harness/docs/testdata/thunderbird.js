// Runs in Thunderbird's own window: sets an account of FileLink up on the page of the add-on, and sends files of a mail.
const [settings, wrong, path] = arguments
const done = arguments[arguments.length - 1]

const pane = Services.wm.getMostRecentWindow('mail:3pane')

async function until(holds) {
  for (let i = 0; i < 600; i++) {
    const value = holds()
    if (value) return value
    await new Promise((next) => pane.setTimeout(next, 100))
  }
  throw new Error(`waited for ${holds}`)
}

async function save(doc, values) {
  const said = doc.getElementById('said')
  said.textContent = ''
  for (const [name, value] of Object.entries(values)) doc.getElementById(name).value = value
  doc.querySelector('button').click()
  return until(() => said.textContent && !said.textContent.startsWith('Asking') && said.textContent)
}

async function run() {
  const { cloudFileAccounts } = ChromeUtils.importESModule('resource:///modules/cloudFileAccounts.sys.mjs')
  const { MailServices } = ChromeUtils.importESModule('resource:///modules/MailServices.sys.mjs')
  const account = cloudFileAccounts.createAccount('ext-filelink@pushbox')
  const tab = pane.document.getElementById('tabmail').openTab('contentTab', {
    url: `${account.managementURL}?accountId=${account.accountKey}`, linkHandler: 'single-page',
    triggeringPrincipal: WebExtensionPolicy.getByID('filelink@pushbox').extension.principal,
  })
  const doc = await until(() => tab.browser.contentDocument?.readyState === 'complete' && tab.browser.contentDocument.getElementById('settings') && tab.browser.contentDocument)
  const refused = []
  for (const values of wrong) refused.push(await save(doc, { ...settings, ...values }))
  const before = account.configured
  const said = await save(doc, settings)
  await until(() => account.configured)

  const mail = MailServices.accounts.createAccount()
  mail.incomingServer = MailServices.accounts.createIncomingServer('ann', 'mail.example', 'pop3')
  const identity = MailServices.accounts.createIdentity()
  identity.email = 'ann@example.com'
  mail.addIdentity(identity)
  MailServices.compose.OpenComposeWindow(null, null, null, Ci.nsIMsgCompType.New, Ci.nsIMsgCompFormat.Default, identity, null, null)
  const compose = await until(() => Services.wm.getMostRecentWindow('msgcompose'))
  await until(() => compose.gMsgCompose)

  const file = Cc['@mozilla.org/file/local;1'].createInstance(Ci.nsIFile)
  file.initWithPath(path)
  const kept = await account.uploadFile(compose, file)
  const removed = await account.uploadFile(compose, file)
  await account.deleteFile(compose, removed.id)
  return { refused, before, said, kept: kept.url, limit: kept.downloadLimit, removed: removed.url }
}

run().then(done, (problem) => done({ problem: `${problem} ${problem.stack}` }))

// Sends attachments as file pushes by the API, and gives Thunderbird their links.

const running = new Map() // what ends an upload, by the ID of its file
const sent = new Map() // the addresses of pushes in the API, by the ID of their file: only while Thunderbird runs

const of = async (account) => (await browser.storage.local.get(account.id))[account.id]
const authorization = ({ token }) => token ? { Authorization: `Bearer ${token}` } : {}

async function configure({ id }, settings) {
  await browser.cloudFile.updateAccount(id, { configured: Boolean(settings?.server), managementUrl: browser.runtime.getURL('settings.html') })
}

browser.cloudFile.onFileUpload.addListener(async (account, { id, name, data }) => {
  const settings = await of(account)
  if (!settings?.server) return { error: 'Set the address of the server in the settings of pushbox.' }
  const ending = new AbortController()
  running.set(id, ending)
  try {
    const body = new FormData()
    body.append('push[kind]', 'file')
    if (settings.days) body.append('push[expire_after_days]', settings.days)
    if (settings.views) body.append('push[expire_after_views]', settings.views)
    body.append('push[files][]', data, name)
    const answer = await fetch(`${settings.server}/api/v2/pushes`, {
      method: 'POST', headers: authorization(settings), body, signal: ending.signal, credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
    })
    const push = await answer.json()
    if (!answer.ok) return { error: push.error }
    sent.set(id, push.json_url)
    return {
      url: push.html_url,
      templateInfo: {
        service_name: 'pushbox', service_url: settings.server, download_limit: push.views_remaining,
        download_expiry_date: { timestamp: Date.parse(push.expires_at) },
      },
    }
  } catch (problem) {
    return problem.name === 'AbortError' ? { aborted: true } : { error: 'The server did not answer as pushbox does. Look at its address in the settings.' }
  } finally {
    running.delete(id)
  }
})

browser.cloudFile.onFileUploadAbort.addListener((account, id) => running.get(id)?.abort())

// The attachment was removed before the mail was sent: its push ends. A token that may only create leaves it to its time.
browser.cloudFile.onFileDeleted.addListener(async (account, id) => {
  const settings = await of(account)
  const address = sent.get(id)
  sent.delete(id)
  if (address?.startsWith(`${settings?.server}/`)) {
    await fetch(address, { method: 'DELETE', headers: authorization(settings), credentials: 'omit', redirect: 'error' }).catch(() => {})
  }
})

browser.cloudFile.onAccountDeleted.addListener((id) => browser.storage.local.remove(id))

browser.storage.onChanged.addListener(async (changes) => {
  for (const [id, { newValue }] of Object.entries(changes)) if (newValue) await configure({ id }, newValue)
})

// Thunderbird forgets at each start which accounts are set up.
browser.cloudFile.getAllAccounts().then(async (accounts) => {
  for (const account of accounts) await configure(account, await of(account))
})

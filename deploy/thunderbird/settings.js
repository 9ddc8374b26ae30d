// The settings of one account of FileLink.

const id = new URL(location.href).searchParams.get('accountId')
const names = ['server', 'token', 'days', 'views']
const field = (name) => document.getElementById(name)

browser.storage.local.get(id).then(({ [id]: kept = {} }) => {
  for (const name of names) field(name).value = kept[name] ?? ''
})

field('settings').addEventListener('submit', async (event) => {
  event.preventDefault()
  const next = Object.fromEntries(names.map((name) => [name, field(name).value.trim()]))
  next.server = next.server.replace(/\/+$/, '')
  const said = field('said')
  said.textContent = 'Asking the server …'
  try {
    // Without TLS only this machine: others on the way would read token and files.
    const { protocol, hostname } = new URL(next.server)
    if (protocol !== 'https:' && !['localhost', '127.0.0.1'].includes(hostname)) throw new Error('The address must begin with https://.')
    const ask = (path) => fetch(next.server + path, {
      headers: next.token ? { Authorization: `Bearer ${next.token}` } : {}, credentials: 'omit', redirect: 'error',
    })
    const { api_version: version } = await (await ask('/api/v2/version')).json()
    if (!version) throw new Error('There is no pushbox at this address.')
    const list = next.token ? await ask('/api/v2/pushes/active') : {}
    if (list.status === 401) throw new Error((await list.json()).error) // 403: it may create alone
    await browser.storage.local.set({ [id]: next })
    said.textContent = 'Saved.'
  } catch (problem) {
    said.textContent = problem instanceof TypeError || problem instanceof SyntaxError ? 'There is no pushbox at this address, or it cannot be reached.' : problem.message
  }
})

import { once } from 'node:events'
import http from 'node:http'

import { Provider } from 'oidc-provider'

const secret = 'the secret of the client, for tests'

// An Office is a provider of OpenID Connect, at which one person signs in with one button.
export class Office {
  url = ''
  #server
  #handler

  static async open() {
    const office = new Office()
    office.#server = http.createServer((request, response) => office.#handler(request, response))
    office.#server.listen(0, '127.0.0.1')
    await once(office.#server, 'listening')
    office.url = `http://127.0.0.1:${office.#server.address().port}`
    return office
  }

  // settings are those of pushbox, by which it knows the provider.
  get settings() {
    const provider = { name: 'office', title: 'The Office', issuer: this.url, client_id: 'pushbox', client_secret: secret, create_accounts: true }
    return { PUSHBOX_SIGN_IN_OIDC: JSON.stringify([provider]) }
  }

  // serve begins to answer, unless it has. People reach pushbox at one address, and the
  // provider itself at another.
  serve(at, direct) {
    if (this.#handler) return
    const provider = new Provider(this.url, {
      clients: [{
        client_id: 'pushbox', client_secret: secret, grant_types: ['authorization_code'], response_types: ['code'],
        redirect_uris: [`${at}/users/oidc/office/callback`], post_logout_redirect_uris: [`${at}/users/sign_in`],
        backchannel_logout_uri: `${direct}/users/oidc/office/logout`, backchannel_logout_session_required: true,
      }],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: [] },
      cookies: { keys: ['a key for tests'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          postLogoutSuccessSource: (ctx) => { ctx.body = page('You have left.') },
          logoutSource: (ctx, form) => { ctx.body = page(`${form}<button form="op.logoutForm" name="logout" value="yes">Leave the Office</button>`) },
        },
      },
      // It would send nothing to this machine.
      fetch: (url, { dispatcher, ...options }) => fetch(url, options),
      findAccount: (_, accountId) => ({
        accountId,
        claims: () => ({ sub: accountId, email: 'pat@example.com', email_verified: true }),
      }),
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    })
    const answer = provider.callback()
    this.#handler = (request, response) => {
      if (!request.url.startsWith('/interaction/')) return answer(request, response)
      if (request.method === 'POST') return finish(provider, request, response)
      response.setHeader('Content-Type', 'text/html')
      response.end(page('<form method="post"><button>Continue as Pat</button></form>'))
    }
  }

  async close() {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

const page = (content) => `<!doctype html><html lang="en"><title>The Office</title><link rel="icon" href="data:,">${content}`

// finish signs the person in, who agrees to what the client asks for.
async function finish(provider, request, response) {
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: 'pat', clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  const result = { login: { accountId: 'pat' }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

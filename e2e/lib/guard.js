import { Journal } from './journal.js'

// A Guard watches a visitor's browser for what should not happen: messages on the
// console, script errors, violations of the Content-Security-Policy, requests to other
// origins, dialogs.
export class Guard {
  asked = 0 // how often the browser asked whether to leave a page
  stays = false // the answer: to stay
  requests = new Journal() // of method, url and kind
  #wrong = []
  #foreseen = [] // statuses, and patterns of words
  #home

  // watch begins. home lists the origins that requests may go to.
  static async watch(context, home) {
    const guard = new Guard()
    guard.#home = new Set(home.map((url) => new URL(url).origin))
    context.on('console', (message) => guard.#hear(message))
    context.on('weberror', (failure) => guard.#fail(failure.error()))
    context.on('request', (request) => guard.#note(request))
    context.on('dialog', (dialog) => guard.#answer(dialog))
    // The browser reports this itself, even without scripts. This is a second report.
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        console.error(`stopped by the policy: ${event.violatedDirective} ${event.blockedURI}`)
      })
    })
    return guard
  }

  // foresee announces statuses or messages that the test causes and that the browser
  // then writes on the console, or errors of scripts.
  foresee(...all) {
    this.#foreseen.push(...all)
  }

  // wrong lists everything that should not have happened.
  get wrong() {
    return this.#wrong
  }

  // #answer leaves the page if the browser asks, unless the test stays: that question is
  // not a dialog of the page.
  #answer(dialog) {
    const leaving = dialog.type() === 'beforeunload'
    if (leaving) this.asked++
    else this.#wrong.push(`a dialog: ${dialog.message()}`)
    const answered = leaving && this.stays ? dialog.dismiss() : dialog.accept()
    answered.catch(() => {}) // a page that is closed has taken it along
  }

  #foresaw(text, status) {
    return this.#foreseen.some((one) => (one instanceof RegExp ? one.test(text) : one === Number(status)))
  }

  #fail({ message, stack }) {
    if (message.startsWith('Transition was ')) return // the style of a page came too late for its animation
    if (!this.#foresaw(message)) this.#wrong.push(`an error of a script: ${stack}`)
  }

  #hear(message) {
    if (!['error', 'warning', 'assert'].includes(message.type())) return
    const [, status] = /^Failed to load resource: the server responded with a status of (\d+)/.exec(message.text()) ?? []
    if (this.#foresaw(message.text(), status)) return
    this.#wrong.push(`on the console: ${message.text()} (${message.location().url})`)
  }

  #note(request) {
    const url = new URL(request.url())
    this.requests.add({ method: request.method(), url: request.url(), kind: request.resourceType() })
    const within = ['data:', 'blob:', 'about:', 'chrome:'].includes(url.protocol)
    if (!within && !this.#home.has(url.origin)) this.#wrong.push(`a request to elsewhere: ${request.url()}`)
  }
}

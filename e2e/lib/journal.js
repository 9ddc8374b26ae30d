// Waiting with a deadline: nothing here waits forever, and nothing sleeps.

export const patience = 120_000 // milliseconds, with what must happen: only a hang takes as long

// soon returns the result of a promise, or an error that says what came too late.
export function soon(promise, what) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), patience)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// A Journal keeps entries, and finds one that has come or will come soon.
export class Journal {
  entries = []
  #readers = new Set()

  add(entry) {
    this.entries.push(entry)
    for (const look of this.#readers) look()
  }

  // mark returns the present position, from which first can begin.
  mark() {
    return this.entries.length
  }

  // first returns the first matching entry from a mark on, past or future.
  async first(what, fits, mark = 0) {
    let look
    const found = new Promise((resolve) => {
      look = () => {
        const entry = this.entries.slice(mark).find(fits)
        if (entry) resolve(entry)
      }
    })
    this.#readers.add(look)
    look()
    return soon(found, what).finally(() => this.#readers.delete(look))
  }
}

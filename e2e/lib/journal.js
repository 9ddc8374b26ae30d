// Waiting with a deadline: nothing here waits for ever, and nothing sleeps.

export const patience = 30_000 // milliseconds, with anything that should happen soon

// soon is what a promise brings, or an error that names what came too late.
export function soon(promise, what) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), patience)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// A Journal keeps what happens, and finds what has happened or will soon.
export class Journal {
  entries = []
  #readers = new Set()

  add(entry) {
    this.entries.push(entry)
    for (const look of this.#readers) look()
  }

  // mark is where it is now, for first to begin there.
  mark() {
    return this.entries.length
  }

  // first is the first entry from a mark on that fits, past or to come.
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

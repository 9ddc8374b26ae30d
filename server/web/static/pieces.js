// Sends a form in pieces, as server/pieces.go takes it: a pause or a lost connection costs only the end of a piece.

const length = 8 << 20 // bytes of a piece
const patience = 9 * 60e3 // ms without a connection; after ten minutes the server has forgotten what it has

const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
const escaped = (name) => name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')

// Returns the body that a browser would send. Files are read only when they are sent.
function bodyOf(data, boundary) {
  const parts = []
  for (const [name, value] of data) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`
    if (typeof value === 'string') parts.push(`${head}\r\n\r\n${value.replace(/\r\n?|\n/g, '\r\n')}\r\n`)
    else parts.push(`${head}; filename="${escaped(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n')
  }
  return new Blob([...parts, `--${boundary}--\r\n`])
}

// Begins to send data to a URL. It calls told(done, all) when more was sent; lost() when there is no connection, after
// which it tries again; and at the end one of answered(request), failed() and stopped().
export function sendInPieces(url, data, { told, lost, answered, failed, stopped }) {
  const token = hex(crypto.getRandomValues(new Uint8Array(16)))
  const body = bodyOf(data, token)
  let offset = 0
  let request // that runs; undefined: none
  let state = 'sending' // or paused, or stopped
  let wake // ends a wait

  const headersOf = (from) => ({ 'Content-Type': `multipart/form-data; boundary=${token}`, 'Upload-Token': token, 'Upload-Length': body.size, 'Upload-Offset': from })

  const once = (from, to) => new Promise((resolve) => {
    request = new XMLHttpRequest()
    request.open('POST', url)
    request.responseType = 'document'
    for (const [name, value] of Object.entries(headersOf(from))) request.setRequestHeader(name, value)
    request.upload.onprogress = ({ loaded }) => told(from + loaded, body.size)
    request.onloadend = ({ target }) => {
      request = undefined
      resolve(target)
    }
    request.send(body.slice(from, to))
  })

  // Waits until it is woken, or for that many ms.
  const rest = (ms) => new Promise((resolve) => {
    const timer = ms && setTimeout(resolve, ms)
    wake = () => {
      clearTimeout(timer)
      resolve()
    }
  })
  const online = () => wake?.()

  async function run() {
    let since // when the connection was lost; undefined: it is there
    for (let ask = false; state !== 'stopped'; ) {
      if (state === 'paused') {
        await rest()
        ask = true
        continue
      }
      const to = ask ? offset : Math.min(body.size, offset + length) // an empty piece asks where to continue
      const got = await once(offset, to)
      if (got.status === 202 || got.status === 409) {
        offset = +got.getResponseHeader('Upload-Offset')
        ask = false
        since = undefined
        told(offset, body.size)
      } else if (got.status) {
        return got.status === 410 ? failed() : answered(got)
      } else if (state === 'sending') {
        ask = true
        since ??= performance.now()
        if (performance.now() - since > patience) return failed()
        lost()
        await rest(Math.min(15e3, 1e3 + (performance.now() - since)))
      }
    }
    stopped()
    // This frees the room that the server holds for it, now or when there is a connection again.
    for (const end = performance.now() + patience; performance.now() < end; await rest(15e3))
      if (await fetch(url, { method: 'POST', headers: headersOf('none'), keepalive: true }).catch(() => {})) return
  }

  addEventListener('online', online)
  run().finally(() => removeEventListener('online', online))
  const become = (next) => {
    state = next
    request?.abort()
    wake?.()
  }
  return {
    abort: () => become('stopped'),
    pause: () => become('paused'),
    resume: () => become('sending'),
    get paused() { return state === 'paused' },
  }
}

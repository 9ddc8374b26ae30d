// Scripts of the account pages.

// Saves the text of an element as a file.
for (const button of document.querySelectorAll('[data-save]')) {
  button.addEventListener('click', () => {
    const lines = [...document.querySelector(button.dataset.save).children].map((part) => `${part.textContent.trim()}\n`)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob(lines, { type: 'text/plain' }))
    link.download = button.dataset.name
    link.click()
    URL.revokeObjectURL(link.href)
  })
}

for (const button of document.querySelectorAll('[data-print]')) button.addEventListener('click', () => print())

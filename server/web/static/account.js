// What the pages of accounts have beyond app.js.

for (const button of document.querySelectorAll('[data-print]')) {
  button.addEventListener('click', () => print())
}

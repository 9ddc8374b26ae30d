// Scripts of the account pages.

for (const button of document.querySelectorAll('[data-print]')) {
  button.addEventListener('click', () => print())
}

// Package lang has the words of the pages in every language that pushbox speaks.
//
// A message is a text with placeholders such as {name}. One that depends on a
// number has a text for each plural category of its language (Unicode CLDR) and a
// placeholder {count}. Messages lie in messages/TAG.json; English is complete, and
// a test fails where another language lacks a message or a placeholder.
package lang

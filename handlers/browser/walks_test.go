//go:build walks

package browser

// walks makes the tests look at every page, lesson and slide in every theme, at every width and
// by every rule of accessibility.
const walks = true

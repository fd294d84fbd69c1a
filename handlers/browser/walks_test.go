//go:build walks

package browser

// walks makes the tests look at every lesson and every slide in every theme.
const walks = true

package formula

import "strings"

// Spoken converts a formula to text for places that take no MathML, such as names read by screen
// readers: "x sub i", "x to the n", "a over b". It returns the errors of [MathML].
func Spoken(tex string) (string, error) {
	p := parser{tex: tex, unstyled: true}
	nodes, err := p.formula()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, n := range nodes {
		n.speak(&b)
	}
	return tidied.Replace(strings.Join(strings.Fields(b.String()), " ")), nil
}

// tidied removes spaces inside brackets and before punctuation.
var tidied = strings.NewReplacer("( ", "(", " )", ")", "[ ", "[", " ]", "]", " ,", ",", " .", ".", "\u2061", "")

// between maps elements to the words between their parts.
var between = map[string][]string{
	"msub": {"sub"}, "msup": {"to the"}, "msubsup": {"sub", "to the"},
	"munder": {"under it"}, "mover": {"with"}, "munderover": {"from", "to"},
	"mfrac": {"over"}, "mroot": {"root of index"},
}

func (n *node) speak(b *strings.Builder) {
	if n.tag == "msqrt" {
		b.WriteString(" root of ")
	}
	b.WriteString(" " + n.text + " ")
	words := between[n.tag]
	for i, k := range n.kids {
		if 0 < i && i <= len(words) {
			b.WriteString(" " + words[i-1] + " ")
		}
		k.speak(b)
	}
}

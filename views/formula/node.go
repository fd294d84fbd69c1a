package formula

import "strings"

// node is a MathML element with text or children.
type node struct {
	tag   string
	attrs []string // names and values in turn
	text  string
	kids  []*node
}

func el(tag string, kids ...*node) *node { return &node{tag: tag, kids: kids} }

func leaf(tag, text string) *node { return &node{tag: tag, text: text} }

// set sets an attribute; the last value applies.
func (n *node) set(name, value string) *node {
	for i := 0; i < len(n.attrs); i += 2 {
		if n.attrs[i] == name {
			n.attrs[i+1] = value
			return n
		}
	}
	n.attrs = append(n.attrs, name, value)
	return n
}

// row returns nodes as one element.
func row(nodes []*node) *node {
	if len(nodes) == 1 {
		return nodes[0]
	}
	return el("mrow", nodes...)
}

func space(width string) *node { return el("mspace").set("width", width) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	b.WriteString("<" + n.tag)
	for i := 0; i < len(n.attrs); i += 2 {
		b.WriteString(" " + n.attrs[i] + `="` + escaper.Replace(n.attrs[i+1]) + `"`)
	}
	if n.tag == "mspace" {
		b.WriteString("/>")
		return
	}
	b.WriteString(">" + escaper.Replace(n.text))
	for _, k := range n.kids {
		k.write(b)
	}
	b.WriteString("</" + n.tag + ">")
}

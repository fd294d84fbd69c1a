package theory

import "marginlab/ml/lists"

// SuffixTree is a generalised suffix tree (Ukkonen, Algorithmica 14 (1995)): each substring of
// the texts is a prefix of exactly one path from the root, and each suffix ends at a leaf. A text
// of n symbols has at most 2n nodes besides the root.
type SuffixTree struct {
	Nodes []SuffixNode // the root, then the others in order of creation
	Steps int          // comparisons of symbols and moves between nodes, to build the tree and count its leaves

	symbols []rune  // of all texts, each followed by its own end symbol
	counts  [][]int // by text and node: occurrences of the node's string in the text
}

// SuffixNode is a node of a SuffixTree.
type SuffixNode struct {
	Parent int // -1 for the root
	Text   int // text whose suffix ends here; -1 for an inner node
	Depth  int // length of the node's string

	start, end int // of the symbols on its edge
	link       int // suffix link: node of the string without its first symbol
}

// edge identifies an edge of a tree by the node it leaves and its first symbol.
type edge struct {
	from   int
	symbol rune
}

// NewSuffixTree builds the tree symbol by symbol in linear time.
func NewSuffixTree(texts ...string) *SuffixTree {
	t := &SuffixTree{Nodes: []SuffixNode{{Parent: -1, Text: -1}}}
	children := make(map[edge]int)
	add := func(n SuffixNode) int {
		t.Nodes = append(t.Nodes, n)
		children[edge{n.Parent, t.symbols[n.start]}] = len(t.Nodes) - 1
		return len(t.Nodes) - 1
	}
	for text, s := range texts {
		first := len(t.symbols)
		t.symbols = append(append(t.symbols, []rune(s)...), rune(-1-text)) // end symbols are negative
		end := len(t.symbols)
		// The suffix to add next is the string of node followed by length symbols starting at
		// begin.
		node, begin, length, waiting := 0, first, 0, 0
		for at := first; at < end; at++ {
			waiting++
			inner := 0 // last created, without a link yet
			for waiting > 0 {
				t.Steps++
				if length == 0 {
					begin = at
				}
				next, ok := children[edge{node, t.symbols[begin]}]
				if n := t.Nodes[next]; ok && length >= n.end-n.start {
					node, begin, length = next, begin+n.end-n.start, length-(n.end-n.start)
					continue
				}
				if ok && t.symbols[t.Nodes[next].start+length] == t.symbols[at] {
					length++ // already present, as are all shorter ones
					if inner > 0 {
						t.Nodes[inner].link = node
					}
					break
				}
				parent := node
				if ok { // split the edge
					n := t.Nodes[next]
					parent = add(SuffixNode{Parent: node, Text: -1, start: n.start, end: n.start + length})
					t.Nodes[next].Parent, t.Nodes[next].start = parent, n.start+length
					children[edge{parent, t.symbols[n.start+length]}] = next
				}
				if inner > 0 {
					t.Nodes[inner].link = parent
				}
				if inner = 0; ok {
					inner = parent
				}
				add(SuffixNode{Parent: parent, Text: text, start: at, end: end})
				if waiting--; node == 0 && length > 0 {
					length, begin = length-1, at-waiting+1
				} else {
					node = t.Nodes[node].link
				}
			}
		}
	}
	t.count(len(texts))
	return t
}

// count computes the depths and the number of leaves of each text below each node.
func (t *SuffixTree) count(texts int) {
	below := make([][]int, len(t.Nodes))
	for i, n := range t.Nodes[1:] {
		below[n.Parent] = append(below[n.Parent], i+1)
	}
	order := []int{0} // parents first
	for k := 0; k < len(order); k++ {
		for _, i := range below[order[k]] {
			n := &t.Nodes[i]
			if n.Text >= 0 {
				n.end-- // the end symbol is no longer needed
			}
			n.Depth = t.Nodes[n.Parent].Depth + n.end - n.start
			order = append(order, i)
		}
	}
	t.Steps += (2 + texts) * len(t.Nodes) // two passes so far, and one per text
	t.counts = make([][]int, texts)
	for text := range t.counts {
		t.counts[text] = make([]int, len(t.Nodes))
		for k := len(order) - 1; k > 0; k-- {
			n, c := t.Nodes[order[k]], t.counts[text]
			if n.Text == text {
				c[order[k]]++
			}
			c[n.Parent] += c[order[k]]
		}
	}
}

// Edge returns the symbols on the edge that leads to a node.
func (t *SuffixTree) Edge(node int) string {
	return string(t.symbols[t.Nodes[node].start:t.Nodes[node].end])
}

// Count returns the number of occurrences of the node's string in a text.
func (t *SuffixTree) Count(text, node int) int { return t.counts[text][node] }

// KMers returns, for each distinct substring of k symbols, the node whose edge it ends on.
func (t *SuffixTree) KMers(k int) []int {
	return lists.Where(len(t.Nodes), func(i int) bool {
		return i > 0 && t.Nodes[t.Nodes[i].Parent].Depth < k && k <= t.Nodes[i].Depth
	})
}

// SpectrumMethod computes the spectrum kernel of two strings and counts comparisons of symbols
// and moves between nodes.
type SpectrumMethod func(x, z string, k int) (value float64, steps int)

// SpectrumByTree builds a suffix tree of both strings and sums the products of the counts at
// depth k in another pass over the nodes.
//
// Source: Vishwanathan and Smola, Kernel Methods in Computational Biology (2004).
func SpectrumByTree(x, z string, k int) (value float64, steps int) {
	t := NewSuffixTree(x, z)
	for _, i := range t.KMers(k) {
		value += float64(t.Count(0, i) * t.Count(1, i))
	}
	return value, t.Steps + len(t.Nodes)
}

// SpectrumByTrie inserts all substrings of x into a trie and looks up the substrings of z.
//
// Source: Leslie, Eskin and Noble, Pacific Symposium on Biocomputing 7 (2002).
func SpectrumByTrie(x, z string, k int) (value float64, steps int) {
	children, counts := make(map[edge]int), []float64{0}
	for round, text := range [][]rune{[]rune(x), []rune(z)} {
		for i := 0; i+k <= len(text); i++ {
			node, ok := 0, true
			for _, symbol := range text[i : i+k] {
				steps++
				from := edge{node, symbol}
				if node, ok = children[from]; !ok && round == 1 {
					break
				} else if !ok {
					node = len(counts)
					children[from], counts = node, append(counts, 0)
				}
			}
			if round == 0 {
				counts[node]++
			} else {
				value += counts[node] // 0 at inner nodes and the root
			}
		}
	}
	return value, steps
}

// SpectrumByPairs compares every substring of x with every substring of z up to the first
// difference.
func SpectrumByPairs(x, z string, k int) (value float64, steps int) {
	a, b := []rune(x), []rune(z)
	for i := 0; i+k <= len(a); i++ {
		for j := 0; j+k <= len(b); j++ {
			same := 0
			for ; same < k; same++ {
				if steps++; a[i+same] != b[j+same] {
					break
				}
			}
			if same == k {
				value++
			}
		}
	}
	return value, steps
}

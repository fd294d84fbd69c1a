package formula

import (
	"slices"
	"strings"
	"sync"
)

// symbols maps commands to single characters, by class.
var symbols = sync.OnceValue(func() map[string]symbol {
	return merge(map[class]string{
		ord: `
		alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ
		iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ
		sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω
		Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
		ell ℓ infty ∞ partial ∂ nabla ∇ Re ℜ Im ℑ aleph ℵ forall ∀ exists ∃ nexists ∄
		emptyset ∅ varnothing ∅ top ⊤ bot ⊥ intercal ⊺ neg ¬ lnot ¬ prime ′ angle ∠ triangle △
		square □ blacksquare ■ star ⋆ dagger † % % # # $ $ & & _ _`,
		bin: `
		pm ± mp ∓ times × div ÷ cdot ⋅ circ ∘ bullet ∙ ast ∗ cup ∪ cap ∩ setminus ∖
		wedge ∧ land ∧ vee ∨ lor ∨ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙`,
		rel: `
		le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ ll ≪ gg ≫ lt < gt > approx ≈ cong ≅ equiv ≡ sim ∼
		simeq ≃ propto ∝ coloneqq ≔ prec ≺ succ ≻ preceq ⪯ succeq ⪰
		in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ nsubseteq ⊈
		mid ∣ nmid ∤ parallel ∥ perp ⟂ vdash ⊢ models ⊨
		to → rightarrow → gets ← leftarrow ← leftrightarrow ↔ mapsto ↦ hookrightarrow ↪
		Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ longrightarrow ⟶ longleftarrow ⟵ longmapsto ⟼
		Longrightarrow ⟹ Longleftarrow ⟸ Longleftrightarrow ⟺ implies ⟹ impliedby ⟸ iff ⟺
		uparrow ↑ downarrow ↓ nearrow ↗ searrow ↘`,
		op: `
		sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigvee ⋁ bigwedge ⋀
		int ∫ iint ∬ iiint ∭ oint ∮`,
		opening: `lbrace { { { lbrack [ langle ⟨ lceil ⌈ lfloor ⌊ lvert | lVert ‖`,
		closing: `rbrace } } } rbrack ] rangle ⟩ rceil ⌉ rfloor ⌋ rvert | rVert ‖`,
		inner:   `ldots … dotsc … dotso … cdots ⋯ dotsb ⋯ dotsm ⋯ vdots ⋮ ddots ⋱`,
		punct:   `colon :`,
	})
})

type symbol struct {
	text  string
	class class
}

func merge(tables map[class]string) map[string]symbol {
	m := map[string]symbol{}
	for c, t := range tables {
		f := strings.Fields(t)
		for i := 0; i < len(f); i += 2 {
			m[f[i]] = symbol{f[i+1], c}
		}
	}
	return m
}

// named lists the functions written as words; true marks those whose subscripts are
// limits.
var named = map[string]bool{
	"arccos": false, "arcsin": false, "arctan": false, "arg": false, "cos": false, "cosh": false,
	"cot": false, "deg": false, "dim": false, "exp": false, "ker": false, "lg": false, "ln": false,
	"log": false, "sin": false, "sinh": false, "tan": false, "tanh": false,
	"det": true, "gcd": true, "inf": true, "lim": true, "max": true, "min": true, "Pr": true, "sup": true,
}

// spaces holds the widths of TeX's spaces in em.
var spaces = map[string]string{
	",": "0.1667em", "thinspace": "0.1667em", ":": "0.2222em", ">": "0.2222em", ";": "0.2778em",
	" ": "0.3333em", "enspace": "0.5em", "quad": "1em", "qquad": "2em",
}

const thin = "0.1667em"

// accents are placed over or under their base. With the attribute stretchy="false" they keep their
// size.
var accents = map[string]struct {
	tag, text string
	stretchy  bool
}{
	"hat": {"mover", "ˆ", false}, "widehat": {"mover", "\u0302", true},
	"tilde": {"mover", "˜", false}, "widetilde": {"mover", "˜", true},
	"bar": {"mover", "¯", false}, "dot": {"mover", "˙", false}, "ddot": {"mover", "¨", false},
	"check": {"mover", "ˇ", false}, "breve": {"mover", "˘", false},
	"vec": {"mover", "→", false}, "overrightarrow": {"mover", "→", true},
	"overbrace": {"mover", "⏞", true}, "underbrace": {"munder", "⏟", true},
}

// bigs maps \big and its relatives to heights of delimiters.
var bigs = map[string]string{"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}

// negated maps a symbol to its negation by \not.
var negated = map[string]string{
	"=": "≠", "<": "≮", ">": "≯", "≤": "≰", "≥": "≱", "∈": "∉", "∋": "∌", "⊂": "⊄", "⊃": "⊅", "⊆": "⊈", "⊇": "⊉",
	"∼": "≁", "≈": "≉", "≡": "≢", "≅": "≇", "∃": "∄", "∣": "∤", "∥": "∦", "→": "↛", "←": "↚", "⇒": "⇏", "⇔": "⇎",
}

var fonts = map[string]font{
	"mathbf": bold, "boldsymbol": boldItalic, "bm": boldItalic, "mathbb": double,
	"mathcal": script, "mathscr": script, "mathrm": roman, "mathit": italic,
}

type font int

const (
	plain      font = iota
	bold            // upright
	boldItalic      // digits and capital Greek letters are upright
	double
	script
	roman
	italic
)

// early holds the letters that Unicode had before its blocks of mathematical letters, which leave
// their places empty.
var early = map[rune]rune{
	0x1D455: 'ℎ',
	0x1D49D: 'ℬ', 0x1D4A0: 'ℰ', 0x1D4A1: 'ℱ', 0x1D4A3: 'ℋ', 0x1D4A4: 'ℐ', 0x1D4A7: 'ℒ', 0x1D4A8: 'ℳ', 0x1D4AD: 'ℛ',
	0x1D4BA: 'ℯ', 0x1D4BC: 'ℊ', 0x1D4C4: 'ℴ',
	0x1D53A: 'ℂ', 0x1D53F: 'ℍ', 0x1D545: 'ℕ', 0x1D547: 'ℙ', 0x1D548: 'ℚ', 0x1D549: 'ℝ', 0x1D551: 'ℤ',
}

// boldGreek lists the bold upright letters from U+1D6A8 on in order; the bold italic ones are 0x74
// later.
var boldGreek = []rune("ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡϴΣΤΥΦΧΨΩ∇αβγδεζηθικλμνξοπρςστυφχψω∂ϵϑϰϕϱϖ")

// letter returns r in a font, as a character of the mathematical alphanumeric block, because MathML
// Core has no other font variants. ok is false if the font lacks the letter.
func (f font) letter(r rune) (_ rune, ok bool) {
	var upper, lower, digit rune
	switch f {
	case plain, roman:
		return r, true
	case bold:
		upper, lower, digit = 0x1D400, 0x1D41A, 0x1D7CE
	case boldItalic:
		upper, lower, digit = 0x1D468, 0x1D482, 0x1D7CE
	case double:
		upper, lower, digit = 0x1D538, 0x1D552, 0x1D7D8
	case script:
		upper, lower = 0x1D49C, 0x1D4B6
	case italic:
		upper, lower, digit = 0x1D434, 0x1D44E, '0'
	}
	switch {
	case 'A' <= r && r <= 'Z':
		r += upper - 'A'
	case 'a' <= r && r <= 'z':
		r += lower - 'a'
	case '0' <= r && r <= '9' && digit != 0:
		r += digit - '0'
	default:
		i := slices.Index(boldGreek, r)
		switch {
		case i < 0 || f != bold && f != boldItalic:
			return r, false
		case f == boldItalic && i > 25:
			return 0x1D71C + rune(i), true
		}
		return 0x1D6A8 + rune(i), true
	}
	if e, ok := early[r]; ok {
		r = e
	}
	return r, true
}

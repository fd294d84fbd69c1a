package formula

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Plain converts a plain-text formula with Unicode, as written for the terminal, to HTML: words
// unchanged, with <math> between them. What it cannot parse stays text.
func Plain(text string) string {
	var b strings.Builder
	at := 0
	set := func(part string) {
		core := strings.Trim(part, " ,:")
		math, err := MathML(tex(core), false)
		if core == "" || err != nil {
			b.WriteString(html.EscapeString(part))
			return
		}
		before, after, _ := strings.Cut(part, core)
		b.WriteString(before + math + after)
	}
	for _, w := range words().FindAllStringIndex(text, -1) {
		if slices.Contains(functions, text[w[0]:w[1]]) {
			continue
		}
		set(text[at:w[0]])
		b.WriteString(text[w[0]:w[1]])
		at = w[1]
	}
	set(text[at:])
	return b.String()
}

var functions = []string{"exp", "log", "tanh", "argmax"}

// words matches sequences of words of two letters or more, with articles between them.
var words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z]{2}[a-z-]*(?: (?:a|[A-Za-z]{2}[a-z-]*))*`) })

// Patterns and replacements that turn plain text into TeX.
var (
	above   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[²³¹⁻ᵖᵃᵀ]+`) })
	below   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`_[a-z]ᵢ?|ᵢc\b|[ᵢⱼᵤᵣ₀₁₂₃]+`) })
	called  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`exp|log|tanh`) })
	scripts = strings.NewReplacer("²", "2", "³", "3", "¹", "1", "⁻", "-", "ᵖ", "p", "ᵃ", "a", "ᵀ", `\top `, "ᵢ", "i", "ⱼ", "j", "ᵤ", "u", "ᵣ", "r", "₀", "0", "₁", "1", "₂", "2", "₃", "3")
	signs   = strings.NewReplacer("½", `\tfrac12 `, "Σ", `\sum `, "−", "-", "·", `\cdot `, "±", `\pm `, "∇", `\nabla `, "←", `\leftarrow `, "#", `\#`, "argmax", `\operatorname{argmax}`)
)

// tex returns the TeX of a plain-text formula without words.
func tex(text string) string {
	text = below().ReplaceAllStringFunc(text, func(s string) string {
		if first, index, nested := strings.Cut(strings.TrimPrefix(s, "_"), "ᵢ"); nested && first != "" {
			return "_{" + first + "_i" + index + "}"
		}
		return "_{" + scripts.Replace(strings.TrimPrefix(s, "_")) + "}"
	})
	text = above().ReplaceAllStringFunc(text, func(s string) string { return "^{" + scripts.Replace(s) + "}" })
	return signs.Replace(called().ReplaceAllString(text, `\$0 `))
}

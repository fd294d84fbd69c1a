package formula

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// The expected elements follow MathML Core, sections 3.2 to 3.5, and its operator dictionary:
// relations have 5/18 em around, sums 3/18 em, parentheses and signs in prefix form none.
func TestMathML(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		// identifiers, numbers, signs
		`x`:           `<mi>x</mi>`,
		`3.14`:        `<mn>3.14</mn>`,
		`.5`:          `<mn>.5</mn>`,
		`1..N`:        `<mn>1</mn><mo lspace="0" rspace="0">.</mo><mo lspace="0" rspace="0">.</mo><mi>N</mi>`,
		`-1/5`:        `<mo form="prefix">−</mo><mn>1</mn><mo lspace="0" rspace="0">/</mo><mn>5</mn>`,
		`1{,}000`:     `<mn>1</mn><mo rspace="0">,</mo><mn>000</mn>`,
		`x-y`:         `<mi>x</mi><mo>−</mo><mi>y</mi>`,
		`a=-b`:        `<mi>a</mi><mo>=</mo><mo form="prefix">−</mo><mi>b</mi>`,
		`a\cdot-b`:    `<mi>a</mi><mo>⋅</mo><mo form="prefix">−</mo><mi>b</mi>`,
		`k(\cdot,x)`:  `<mi>k</mi><mo stretchy="false">(</mo><mo lspace="0" rspace="0">⋅</mo><mo>,</mo><mi>x</mi><mo stretchy="false">)</mo>`,
		`a<b\&`:       `<mi>a</mi><mo>&lt;</mo><mi>b</mi><mi>&amp;</mi>`,
		`a:=b`:        `<mi>a</mi><mo lspace="0.2778em" rspace="0">:</mo><mo lspace="0">=</mo><mi>b</mi>`,
		`f\colon A`:   `<mi>f</mi><mo>:</mo><mi>A</mi>`,
		`x\not\in A`:  `<mi>x</mi><mo>∉</mo><mi>A</mi>`,
		`a\le b\to c`: `<mi>a</mi><mo>≤</mo><mi>b</mi><mo>→</mo><mi>c</mi>`,
		`α ≤ 1`:       `<mi>α</mi><mo>≤</mo><mn>1</mn>`,
		`a\quad b`:    `<mi>a</mi><mspace width="1em"/><mi>b</mi>`,
		`1,\dots,n`:   `<mn>1</mn><mo>,</mo><mi>…</mi><mspace width="0.1667em"/><mo>,</mo><mi>n</mi>`,
		`x+\dots+y`:   `<mi>x</mi><mo>+</mo><mi>⋯</mi><mo>+</mo><mi>y</mi>`,

		// scripts
		`x_i^2`:     `<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>`,
		`x^2_i`:     `<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>`,
		`x_10`:      `<msub><mi>x</mi><mn>1</mn></msub><mn>0</mn>`,
		`x'_i`:      `<msubsup><mi>x</mi><mi>i</mi><mo>′</mo></msubsup>`,
		`f''`:       `<msup><mi>f</mi><mo>′′</mo></msup>`,
		`f'^2`:      `<msup><mi>f</mi><mrow><mo>′</mo><mn>2</mn></mrow></msup>`,
		`x_{n_k}`:   `<msub><mi>x</mi><msub><mi>n</mi><mi>k</mi></msub></msub>`,
		`x^{-1}`:    `<msup><mi>x</mi><mrow><mo form="prefix">−</mo><mn>1</mn></mrow></msup>`,
		`C^+`:       `<msup><mi>C</mi><mo lspace="0" rspace="0">+</mo></msup>`,
		`{}_i`:      `<msub><mrow></mrow><mi>i</mi></msub>`,
		`w^\top`:    `<msup><mi>w</mi><mi>⊤</mi></msup>`,
		`x_{i,j+1}`: `<msub><mi>x</mi><mrow><mi>i</mi><mo rspace="0">,</mo><mi>j</mi><mo lspace="0" rspace="0">+</mo><mn>1</mn></mrow></msub>`,

		// fractions, roots, what stands over and under
		`\frac12`:         `<mfrac><mn>1</mn><mn>2</mn></mfrac>`,
		`\frac{a}b`:       `<mfrac><mi>a</mi><mi>b</mi></mfrac>`,
		`\dfrac12`:        `<mfrac displaystyle="true"><mn>1</mn><mn>2</mn></mfrac>`,
		`\sqrt2`:          `<msqrt><mn>2</mn></msqrt>`,
		`\sqrt[3]{x}`:     `<mroot><mi>x</mi><mn>3</mn></mroot>`,
		`\hat x`:          `<mover accent="true"><mi>x</mi><mo stretchy="false">ˆ</mo></mover>`,
		`\bar{z}_i`:       `<msub><mover accent="true"><mi>z</mi><mo stretchy="false">¯</mo></mover><mi>i</mi></msub>`,
		`\overline{AB}`:   `<mrow class="overline"><mrow><mi>A</mi><mi>B</mi></mrow></mrow>`,
		`a\stackrel?=b`:   `<mi>a</mi><mover><mo>=</mo><mo lspace="0" rspace="0">?</mo></mover><mi>b</mi>`,
		`\underset uf`:    `<munder><mi>f</mi><mi>u</mi></munder>`,
		`\underbrace x_n`: `<munder><munder accentunder="true"><mi>x</mi><mo>⏟</mo></munder><mi>n</mi></munder>`,

		// functions and large operators
		`\log x`:                   `<mi>log</mi><mo rspace="0.1667em">` + apply + `</mo><mi>x</mi>`,
		`2\sin(x)`:                 `<mn>2</mn><mspace width="0.1667em"/><mi>sin</mi><mo>` + apply + `</mo><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo>`,
		`\operatorname{sign}(x)`:   `<mi>sign</mi><mo>` + apply + `</mo><mo stretchy="false">(</mo><mi>x</mi><mo stretchy="false">)</mo>`,
		`\exp\left(x\right)`:       `<mi>exp</mi><mo>` + apply + `</mo><mrow><mo form="prefix">(</mo><mi>x</mi><mo form="postfix">)</mo></mrow>`,
		`\operatorname{arg\,max}x`: "<mi>arg\u2009max</mi><mo rspace=\"0.1667em\">" + apply + `</mo><mi>x</mi>`,
		`\max_i x`:                 `<msub><mi>max</mi><mi>i</mi></msub><mo rspace="0.1667em">` + apply + `</mo><mi>x</mi>`,
		`\max -x`:                  `<mi>max</mi><mo rspace="0.1667em">` + apply + `</mo><mo form="prefix">−</mo><mi>x</mi>`,
		`C\sum_{i=1}^N x`:          `<mi>C</mi><msubsup><mo>∑</mo><mrow><mi>i</mi><mo lspace="0" rspace="0">=</mo><mn>1</mn></mrow><mi>N</mi></msubsup><mi>x</mi>`,
		`a=\sum x`:                 `<mi>a</mi><mo>=</mo><mo lspace="0">∑</mo><mi>x</mi>`,
		`\sum\limits_ix`:           `<munder><mo movablelimits="false" lspace="0">∑</mo><mi>i</mi></munder><mi>x</mi>`,

		// fences
		`|w|`:                         barOf(`|`, `prefix`) + `<mi>w</mi>` + barOf(`|`, `postfix`),
		`\lvert w\rvert`:              barOf(`|`, `prefix`) + `<mi>w</mi>` + barOf(`|`, `postfix`),
		`|-1|`:                        barOf(`|`, `prefix`) + `<mo form="prefix">−</mo><mn>1</mn>` + barOf(`|`, `postfix`),
		`|a||b|`:                      barOf(`|`, `prefix`) + `<mi>a</mi>` + barOf(`|`, `postfix`) + barOf(`|`, `prefix`) + `<mi>b</mi>` + barOf(`|`, `postfix`),
		`||w||^2`:                     barOf(`‖`, `prefix`) + `<mi>w</mi><msup>` + barOf(`‖`, `postfix`) + `<mn>2</mn></msup>`,
		`\|w\|-1`:                     barOf(`‖`, `prefix`) + `<mi>w</mi>` + barOf(`‖`, `postfix`) + `<mo>−</mo><mn>1</mn>`,
		`\||w|\|`:                     barOf(`‖`, `prefix`) + barOf(`|`, `prefix`) + `<mi>w</mi>` + barOf(`|`, `postfix`) + barOf(`‖`, `postfix`),
		`P(y|x)`:                      `<mi>P</mi><mo stretchy="false">(</mo><mi>y</mi><mo stretchy="false" lspace="0" rspace="0">|</mo><mi>x</mi><mo stretchy="false">)</mo>`,
		`|f(|x|)|`:                    barOf(`|`, `prefix`) + `<mi>f</mi><mo stretchy="false">(</mo>` + barOf(`|`, `prefix`) + `<mi>x</mi>` + barOf(`|`, `postfix`) + `<mo stretchy="false">)</mo>` + barOf(`|`, `postfix`),
		`\langle u,v\rangle`:          `<mo stretchy="false">⟨</mo><mi>u</mi><mo>,</mo><mi>v</mi><mo stretchy="false">⟩</mo>`,
		`\left\{\frac12\right.`:       `<mrow><mo form="prefix">{</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow>`,
		`\left[x\middle|y\right]_0^1`: `<msubsup><mrow><mo form="prefix">[</mo><mi>x</mi><mo form="infix" stretchy="true" symmetric="true">|</mo><mi>y</mi><mo form="postfix">]</mo></mrow><mn>0</mn><mn>1</mn></msubsup>`,
		`\Bigr)`:                      `<mo stretchy="true" symmetric="true" minsize="1.8em" maxsize="1.8em">)</mo>`,

		// letters of other kinds, text
		`\mathbf{w}_1`:          `<msub><mi>𝐰</mi><mn>1</mn></msub>`,
		`\mathbf{x_j1}`:         `<mrow><msub><mi>𝐱</mi><mi>𝐣</mi></msub><mn>𝟏</mn></mrow>`,
		`\boldsymbol{\alpha x}`: `<mrow><mi>𝜶</mi><mi>𝒙</mi></mrow>`,
		`\mathbf\Sigma`:         `<mi>𝚺</mi>`,
		`\mathbb{RE}`:           `<mrow><mi>ℝ</mi><mi>𝔼</mi></mrow>`,
		`\mathcal{LS}`:          `<mrow><mi>ℒ</mi><mi>𝒮</mi></mrow>`,
		`\mathrm{d}x`:           `<mi mathvariant="normal">d</mi><mi>x</mi>`,
		`\mathrm{emp}`:          `<mi>emp</mi>`,
		`\mathit{hi}`:           `<mi>ℎ𝑖</mi>`,
		`\Delta\nabla\varphi`:   `<mi mathvariant="normal">Δ</mi><mi mathvariant="normal">∇</mi><mi>φ</mi>`,
		`\text{if } x`:          "<mtext>if\u00a0</mtext><mi>x</mi>",
		`\text{all $x_i$ <}`:    "<mrow><mtext>all\u00a0</mtext><msub><mi>x</mi><mi>i</mi></msub><mtext>\u00a0&lt;</mtext></mrow>",
		`\textbf{if}`:           `<mtext><b>if</b></mtext>`,

		// tables
		`\begin{pmatrix}1&2\\3&4\\\end{pmatrix}`: `<mrow><mo form="prefix">(</mo><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable><mo form="postfix">)</mo></mrow>`,
		`\begin{cases}0&x\end{cases}`:            `<mrow><mo form="prefix">{</mo><mtable><mtr><mtd class="left"><mn>0</mn></mtd><mtd class="left"><mi>x</mi></mtd></mtr></mtable></mrow>`,
		`\begin{aligned}x&=1\\&-\sum_i\end{aligned}`: `<mtable displaystyle="true" class="aligned"><mtr><mtd class="right"><mi>x</mi></mtd><mtd class="left"><mo>=</mo><mn>1</mn></mtd></mtr>` +
			`<mtr><mtd class="right"></mtd><mtd class="left"><mo form="infix">−</mo><munder><mo lspace="0">∑</mo><mi>i</mi></munder></mtd></mtr></mtable>`,
		`\begin{array}{lr}a&b\end{array}`: `<mtable><mtr><mtd class="left"><mi>a</mi></mtd><mtd class="right"><mi>b</mi></mtd></mtr></mtable>`,
		`\substack{a\\b}`:                 `<mtable class="substack"><mtr><mtd><mi>a</mi></mtd></mtr><mtr><mtd><mi>b</mi></mtd></mtr></mtable>`,
	} {
		got := require.Value(MathML(tex, false))(t, "%s", tex)
		require.Equal(t, cmp.Diff("<math>"+want+"</math>", got), "", "%s (-want +got)", tex)
	}
}

const apply = "\u2061"

func barOf(text, form string) string {
	return fmt.Sprintf(`<mo stretchy="false" form="%s">%s</mo>`, form, text)
}

// Limits stand above and below in display style, but not in fractions and matrices.
func TestDisplay(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		`\sum_i^n x`:                       `<munderover><mo lspace="0">∑</mo><mi>i</mi><mi>n</mi></munderover><mi>x</mi>`,
		`\min_w`:                           `<munder><mi>min</mi><mi>w</mi></munder>`,
		`\operatorname*{arg}_w`:            `<munder><mi>arg</mi><mi>w</mi></munder>`,
		`\operatorname{arg}_w`:             `<msub><mi>arg</mi><mi>w</mi></msub>`,
		`\int_0^1`:                         `<msubsup><mo lspace="0" rspace="0">∫</mo><mn>0</mn><mn>1</mn></msubsup>`,
		`\sum\nolimits_i`:                  `<msub><mo lspace="0" rspace="0">∑</mo><mi>i</mi></msub>`,
		`\frac{\max_i}2`:                   `<mfrac><msub><mi>max</mi><mi>i</mi></msub><mn>2</mn></mfrac>`,
		`\sqrt{\max_i}`:                    `<msqrt><munder><mi>max</mi><mi>i</mi></munder></msqrt>`,
		`\left(\max_i\right)`:              `<mrow><mo form="prefix">(</mo><munder><mi>max</mi><mi>i</mi></munder><mo form="postfix">)</mo></mrow>`,
		`x^{\max_i}`:                       `<msup><mi>x</mi><msub><mi>max</mi><mi>i</mi></msub></msup>`,
		`{\textstyle\max_i}\max_i`:         `<mstyle displaystyle="false" scriptlevel="0"><msub><mi>max</mi><mi>i</mi></msub></mstyle><mspace width="0.1667em"/><munder><mi>max</mi><mi>i</mi></munder>`,
		`\begin{matrix}\max_i\end{matrix}`: `<mtable><mtr><mtd><msub><mi>max</mi><mi>i</mi></msub></mtd></mtr></mtable>`,
	} {
		got, err := MathML(tex, true)
		want = `<math display="block">` + want + `</math>`
		require.Check(t, err == nil && got == want, "%s:\n got %s, %v\nwant %s", tex, got, err, want)
	}
}

// The kinds of formulas that the lecture on SVM, kernels and MCM needs.
func TestConstructs(t *testing.T) {
	t.Parallel()
	for _, tex := range constructs {
		for _, display := range []bool{false, true} {
			m, err := MathML(tex, display)
			if err != nil {
				t.Errorf("%s: %v", tex, err)
			} else if err := wellFormed(m); err != nil {
				t.Errorf("%s: %v in %s", tex, err, m)
			}
		}
	}
}

var constructs = []string{
	`\{(\mathbf{x}_n, t_n)\}_{n=1}^N`, `y: \mathbb{R}^d \rightarrow \mathbb{R}`, `P(y\;\lvert\;x)`, `\nabla_\mathbf{a} J`,
	`\text{VC}_\text{dim}(\text{SVM})`, `\mathbf{w(a)}`, `\mathcal{l}_i`, `\Re^3 \times \Re^3`, `x_1, ... , x_l, .. , 1..N`,
	`\mathbb{E}_{(x,y)\sim P}\biggl[\mathcal{L}\bigl(y,f(x)\bigr)\biggr]`, `\Biggl(1+\sqrt{1+\frac{4R}{B}}\Biggr)`,
	`h\le\min\left(\left[\frac{R}{\Delta}\right]^2,n\right)+1.`, `\underset{u,v}{\operatorname{minimize}}\;\; h`,
	`\begin{aligned}&\min_{w,b}h\quad\text{subject to}\\&h\ge y_i,\quad i=1,\dotsc,M\end{aligned}`,
	`\begin{eqnarray*} f &=& g \\ && + h \end{eqnarray*}`, `\begin{align*} a &\approx b \\ \end{align*}`,
	`\begin{bmatrix} x_1 \cdot x_1 \\ x_1 \end{bmatrix}`, `\begin{pmatrix}k & \dots\\ \vdots & \ddots\end{pmatrix}`,
	`\begin{cases} a = 0 \\ \\ b \geq 0 \quad \forall j \end{cases}`, `K\stackrel{\Delta}{=}P`, `\vec{c}^TB_0\vec{c}`,
	`\sum_{\substack{n=1 \\ j \ne t_n}}^{N} \xi_{n,j}`, `\text{$\mathcal{S}:$ indices}`, `||\mathbf{t}_i - \mathbf{y}_i||^2`,
	`\textbf{else if} \quad \alpha_i > C`, `\mathbf{w} \gets \textbf{w} + \eta \cdot t_i`, `a \implies b \Leftrightarrow c \Longleftrightarrow d`,
	`\lceil \frac{x}{2}\rceil`, `\arg\max_{k\in\{1,\ldots,K\}} y_k`, `\mathbf{x}_{\text{SV}}^+`, `\exp\left\{-\frac{\|x\|^2}{2s^2}\right\}`,
	`A \subseteq B \cong C \propto D \otimes E`, `\exists x \mid \tanh(\kappa x)`, `x \big/ y`, `\tilde{K}(x,x')`,
}

// Every command in the tables converts, with arguments where it takes some.
func TestCommandsConvert(t *testing.T) {
	t.Parallel()
	for name := range symbols() {
		check(t, `a\`+name+` b`)
	}
	for name := range named {
		check(t, `a\`+name+`_b c`)
	}
	for name := range accents {
		check(t, `\`+name+`{ab}`)
	}
	for name := range fonts {
		check(t, `\`+name+`{aBz}`)
	}
	for name := range spaces {
		check(t, `a\`+name+` b`)
	}
	for name, e := range environments {
		columns := ""
		if e.columns == "" {
			columns = "{lcr}"
		}
		check(t, `\begin{`+name+`}`+columns+`a&b\\c\end{`+name+`}`)
	}
	for name := range bigs {
		for _, d := range []string{"(", "]", "|", `\|`, `\rangle`, `\{`, "/", "<"} {
			check(t, `\`+name+"l"+d+` x\`+name+"r"+d+` \`+name+d+` \left`+d+` x\right`+d)
		}
	}
}

func check(t *testing.T, tex string) {
	t.Helper()
	m, err := MathML(tex, true)
	if err == nil {
		err = wellFormed(m)
	}
	require.Equal(t, err, nil, "%s", tex)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		`a+\foo`:                           `\foo at 2 is not known`,
		`\alpa`:                            `\alpha`,
		`{a`:                               `{ at 0 is not closed`,
		`a}`:                               `} at 1 closes nothing`,
		`x_i_j`:                            `_ at 3 is a second subscript`,
		`x^2^3`:                            `^ at 3 is a second superscript`,
		`x^2'`:                             `' at 3 is a second superscript`,
		`x^`:                               `^ at 1 needs an argument`,
		`\frac1`:                           `\frac at 0 needs an argument at 6`,
		`\sqrt[3{x}`:                       `\sqrt at 0 has an index`,
		`\left(x`:                          `\left at 0 has no matching \right`,
		`\left x`:                          `\left at 0 needs a delimiter at 6: one of (`,
		`x\right)`:                         `\right at 1 has no \left`,
		`\big.`:                            `\big at 0 needs a visible delimiter`,
		`a&b`:                              `& at 1 is outside a table`,
		`a\\b`:                             `\\ at 1 is outside a table`,
		`\begin{foo}`:                      `\begin{foo} at 0 is not known; known are Bmatrix`,
		`\begin{matrix}a`:                  `\begin{matrix} at 0 has no \end{matrix}`,
		`\begin{matrix}\end{cases}`:        `\end{cases} at 14 is where \end{matrix} should be`,
		`\begin{matrix}a\\[2pt]\end`:       `\\[ at 15 is not known`,
		`\begin{array}{c|c}a\end{array}`:   `allowed are l, c and r`,
		`\begin{array}{c}a&b\end{array}`:   `\begin{array} at 0 has a row of 2 cells for 1 columns`,
		`\end{a}`:                          `\end at 0 has no \begin`,
		`50%`:                              `% at 2 is not known; write \%`,
		`$x$`:                              `$ at 0 is not allowed`,
		`\text{a`:                          `\text at 0 has an unclosed brace`,
		`\text{a\foo}`:                     `\f at 7 is not known in \text`,
		`\text{^^5cinput{f}}`:              `^ at 6 is not known in \text`,
		`\text{50% of}`:                    `% at 8 is not known in \text`,
		`\text{a $\foo$}`:                  `\foo at 9 is not known`,
		`\text{$x}`:                        `$ at 6 is not closed`,
		`\operatorname{\foo}`:              `\operatorname at 0 has '\\' in its name`,
		`\mathcal{1}`:                      `1 at 9 does not exist in this font`,
		`\not a`:                           `\not at 0 cannot be combined with what follows`,
		`x\limits`:                         `\limits at 1 must follow an operator`,
		`\label{a}`:                        `\label at 0 is not known`,
		"a\xff":                            `"\xff" at 1 is not known`,
		`\`:                                `\ at 0 is not known`,
		strings.Repeat("{", 1e5):           `is nested more than 64 levels deep`,
		strings.Repeat(`\sqrt`, 1e5) + "x": `is nested more than 64 levels deep`,
	} {
		m, err := MathML(tex, false)
		require.Check(t, err != nil && m == "" && strings.Contains(err.Error(), want) && strings.HasPrefix(err.Error(), "formula: "),
			"%.40s: got %q, error %v, want one with %q", tex, m, err, want)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Inline(`x_1`).Render(t.Context(), &b))
	require.NoError(t, Display(`x_1`).Render(t.Context(), &b))
	const x = `<msub><mi>x</mi><mn>1</mn></msub></math>`
	require.Equal(t, b.String(), `<math>`+x+`<math display="block">`+x, "b.String()")
	b.Reset()
	err := Inline(`\wrong{x}`).Render(t.Context(), &b)
	require.Check(t, err != nil && strings.Contains(err.Error(), `\wrong at 0`) && b.Len() == 0,
		"a wrong formula gives %q, %v", b.String(), err)
}

// wellFormed says what is wrong with m as XML, or as part of a page under a strict policy.
func wellFormed(m string) error {
	d := xml.NewDecoder(strings.NewReader(m))
	for depth := 0; ; {
		token, err := d.Token()
		switch {
		case err == io.EOF && depth == 0:
			return nil
		case err != nil:
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			depth++
			for _, a := range token.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					return errors.New("attribute " + a.Name.Local)
				}
			}
			if n, ok := children[token.Name.Local]; ok {
				if err := arity(m[d.InputOffset():], n); err != nil {
					return fmt.Errorf("%s: %w", token.Name.Local, err)
				}
			}
		case xml.EndElement:
			depth--
		}
	}
}

// children are the numbers of children that MathML Core asks for.
var children = map[string]int{
	"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3,
}

// arity checks the number of elements up to the end tag that inside runs into.
func arity(inside string, want int) error {
	d := xml.NewDecoder(strings.NewReader("<x>" + inside))
	n := -1 // without x itself
	for depth := 0; ; {
		token, err := d.Token()
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth <= 2 {
				n++
			}
		case xml.EndElement:
			depth--
		}
		if err != nil || depth == 0 { // the end tag of another name than x
			if n != want {
				return fmt.Errorf("has %d children instead of %d", n, want)
			}
			return nil
		}
	}
}

// FuzzMathML checks that any input gives an error or a well-formed element.
func FuzzMathML(f *testing.F) {
	for _, tex := range constructs {
		f.Add(tex, true)
	}
	f.Fuzz(func(t *testing.T, tex string, display bool) {
		m, err := MathML(tex, display)
		if err != nil {
			require.Check(t, strings.HasPrefix(err.Error(), "formula: "), "%v", err)
			return
		}
		require.Equal(t, wellFormed(m), nil, "%q: … in %s", tex, m)
	})
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	for tex, want := range map[string]string{
		`\eta = 0.05`:                    "η = 0.05",
		`(w, b)`:                         "(w, b)",
		`\alpha_i > 0`:                   "α sub i > 0",
		`\phi(\mathbf x)^\top`:           "ϕ (x) to the ⊤",
		`R_{\text{emp}}`:                 "R sub emp",
		`h_{\text{MCM}}^2`:               "h sub MCM to the 2",
		`\frac{R}{\Delta}`:               "R over Δ",
		`1/\sqrt{\sum_i\alpha_i}`:        "1 / root of ∑ sub i α sub i",
		`\lVert\mathbf w\rVert^2`:        "‖ w ‖ to the 2",
		`\sum_{i=1}^n x_i \in \mathbb R`: "∑ sub i = 1 to the n x sub i ∈ R",
	} {
		got, err := Spoken(tex)
		require.Check(t, err == nil && got == want, "%s: %q, %v; want %q", tex, got, err, want)
	}
	require.Fails(t, require.Err(Spoken(`\nonsense`)), "nonsense", "an unknown command")
}

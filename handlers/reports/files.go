package reports

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/ml/repeat"
	"marginlab/ml/study"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/web"
)

// file is a download format of reports.
type file struct {
	name, kind string
	write      func(w io.Writer, one store.Report) error
}

// files lists the formats. report.zip holds all of them.
var files = []file{
	{"report.md", "text/markdown; charset=utf-8", writeMarkdown},
	{"report.tex", "application/x-tex", writeLaTeX},
	{"report.json", "application/json", writeRepeat},
}

// File sends a report as a file.
func (a *Handler) File(w http.ResponseWriter, r *http.Request) error {
	f := file{"report.zip", "application/zip", writeZip}
	if name := chi.URLParam(r, "file"); name != f.name {
		at := slices.IndexFunc(files, func(f file) bool { return f.name == name })
		if at < 0 {
			return store.ErrNotFound
		}
		f = files[at]
	}
	one, leave, err := a.read(w, r)
	if err != nil {
		return err
	}
	return frame.Send(w, r, f.name, f.kind, func(to io.Writer) error {
		defer leave() // the client may be slow
		return f.write(to, one)
	})
}

// writeRepeat writes the file read by marginlab repeat.
func writeRepeat(w io.Writer, one store.Report) error {
	f := repeat.File{Format: 1, Title: one.Title, Points: one.Frozen.Points, Tasks: []repeat.Task{}}
	for _, item := range one.Frozen.Items {
		if repeats(item.Task) {
			f.Tasks = append(f.Tasks, item.Task)
		}
	}
	return json.NewEncoder(w).Encode(f)
}

// writeZip writes all formats, with the figures and study files they refer to.
func writeZip(w io.Writer, one store.Report) error {
	z := zip.NewWriter(w)
	add := func(name string, write func(io.Writer) error) error {
		f, err := z.Create(name)
		if err == nil {
			err = write(f)
		}
		return err
	}
	verbatim := func(text []byte) func(io.Writer) error {
		return func(w io.Writer) error { _, err := w.Write(text); return err }
	}
	for _, f := range files {
		if err := add(f.name, func(w io.Writer) error { return f.write(w, one) }); err != nil {
			return err
		}
	}
	for i, item := range one.Frozen.Items {
		for k, f := range item.Figures {
			for extension, text := range map[string][]byte{"svg": f.SVG, "pdf": f.PDF} {
				if err := add(figureFile(i, k, extension), verbatim(text)); err != nil {
					return err
				}
			}
		}
		if s := item.Task.Study; s != nil {
			if err := add(studyFile(i), verbatim([]byte(s.File))); err != nil {
				return err
			}
		}
	}
	return z.Close()
}

func figureFile(item, figure int, extension string) string {
	return fmt.Sprintf("figures/%d-%d.%s", item+1, figure+1, extension)
}

// eachPart calls prose and item for the parts of a report in order; at is the index of an item.
func eachPart(one store.Report, prose func(string) error, item func(caption string, item store.ReportItem, at int) error) error {
	for _, p := range split(one.Text) {
		if p.address == "" {
			if err := prose(p.prose); err != nil {
				return err
			}
			continue
		}
		at := slices.IndexFunc(one.Frozen.Items, func(i store.ReportItem) bool { return i.Address == p.address })
		if at < 0 {
			continue
		}
		if err := item(strings.TrimSuffix(cmp.Or(p.caption, one.Frozen.Items[at].Title), "."), one.Frozen.Items[at], at); err != nil {
			return err
		}
	}
	return nil
}

const repeatHint = "Repeat everything: marginlab repeat report.json"

// markdown escapes Markdown syntax.
var markdown = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`, "#", `\#`, "&", "&amp;", "$", `\$`)

func writeMarkdown(w io.Writer, one store.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", markdown.Replace(one.Title), one.Updated.Format(day))
	figures := 0
	err := eachPart(one, func(prose string) error {
		b.WriteString(prose + "\n\n")
		return nil
	}, func(caption string, item store.ReportItem, at int) error {
		for k, f := range item.Figures {
			figures++
			fmt.Fprintf(&b, "![Figure %d. %s](%s)\n\n", figures, markdown.Replace(strings.TrimSuffix(caption+". "+f.Title, ". ")), figureFile(at, k, "svg"))
		}
		fmt.Fprintf(&b, "**%s.** %s %s\n\n", markdown.Replace(caption), markdown.Replace(item.Verdict), markdown.Replace(item.Details))
		if err := study.Markdown(&b, item.Tables); err != nil {
			return err
		}
		if c := command(item, at); c != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.ReplaceAll(c, "```", "` ` `"))
		}
		fmt.Fprintf(&b, "\nFrozen on %s.\n\n", item.Saved.Format(day))
		return nil
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String()+repeatHint+"\n")
	return err
}

// preamble defines, for every LaTeX engine, the letters used in texts about learners.
const preamble = `\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb,graphicx,newunicodechar}
`

// letters lists the letters that the preamble defines.
var letters = []struct{ letter, command string }{
	{"α", `\alpha`},
	{"β", `\beta`},
	{"γ", `\gamma`},
	{"δ", `\delta`},
	{"ε", `\varepsilon`},
	{"λ", `\lambda`},
	{"μ", `\mu`},
	{"ν", `\nu`},
	{"ξ", `\xi`},
	{"ρ", `\rho`},
	{"σ", `\sigma`},
	{"τ", `\tau`},
	{"φ", `\varphi`},
	{"ω", `\omega`},
	{"≥", `\ge`},
	{"≤", `\le`},
	{"≠", `\ne`},
	{"≈", `\approx`},
	{"→", `\to`},
	{"′", `'`},
	{"√", `\surd`},
	{"²", `^2`},
}

func writeLaTeX(w io.Writer, one store.Report) error {
	var b strings.Builder
	b.WriteString(preamble)
	for _, l := range letters {
		fmt.Fprintf(&b, "\\newunicodechar{%s}{\\ensuremath{%s}}\n", l.letter, l.command)
	}
	fmt.Fprintf(&b, "\\title{%s}\n\\author{}\n\\date{%s}\n\\begin{document}\n\\maketitle\n\n", study.LaTeXText(one.Title), one.Updated.Format(day))
	err := eachPart(one, func(prose string) error {
		text, err := lessons.ProseLaTeX(prose)
		if err != nil {
			return web.Errorf(web.Invalid, "text: %v", err)
		}
		b.WriteString(text + "\n")
		return nil
	}, func(caption string, item store.ReportItem, at int) error {
		title := ""
		if len(item.Figures) > 0 && item.Figures[0].Title != "" {
			title = study.LaTeXText(item.Figures[0].Title) + ". "
		}
		text := fmt.Sprintf("%s. %s%s %s", study.LaTeXText(caption), title, study.LaTeXText(item.Verdict), study.LaTeXText(item.Details))
		for k, f := range item.Figures {
			if k > 0 {
				text = study.LaTeXText(f.Title)
			}
			fmt.Fprintf(&b, "\\begin{figure}[htbp]\n\\centering\n\\includegraphics[width=0.7\\linewidth]{%s}\n\\caption{%s}\n\\end{figure}\n\n", figureFile(at, k, "pdf"), text)
		}
		if len(item.Figures) == 0 {
			b.WriteString(text + "\n\n")
		}
		if err := study.LaTeX(&b, item.Tables); err != nil {
			return err
		}
		if c := command(item, at); c != "" {
			fmt.Fprintf(&b, "\n{\\footnotesize\\begin{verbatim}\n%s\n\\end{verbatim}}\n", strings.ReplaceAll(c, `\end{verbatim}`, `\end {verbatim}`))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String()+study.LaTeXText(repeatHint)+"\n\n\\end{document}\n")
	return err
}

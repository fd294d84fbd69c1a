package manual

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"marginlab/ml/mltest/require"
)

// Every page has the table's title, its own headings, no HTML, and links that lead somewhere.
func TestTopics(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	for _, topic := range Topics {
		html := require.Value(topic.HTML())(t)
		sections := topic.Sections()
		require.Check(t, len(sections) >= 2 && sections[0].Level == 1 && sections[0].Title == topic.Title,
			"%s.md does not begin with \"# %s\" and sections: %+v", topic.Slug, topic.Title, sections)
		require.Check(t, !strings.Contains(html, "raw HTML") && !strings.Contains(html, `.md"`),
			"%s.md holds HTML, or a link to a page that there is not:\n%s", topic.Slug, html)
		for i, s := range sections {
			require.Check(t, s.ID != "" && !slices.ContainsFunc(sections[:i], func(o Section) bool { return o.ID == s.ID }),
				"%s.md: the heading %q has the address %q, which is empty or taken", topic.Slug, s.Title, s.ID)
		}
		for _, m := range link.FindAllStringSubmatch(string(topic.Source()), -1) {
			if m[1] == "dashboard.json" {
				continue
			}
			slug, isTopic := strings.CutSuffix(m[1], ".md")
			_, ok := Find(slug)
			require.Check(t, isTopic && ok, "%s.md links to %s; expected another page of the manual", topic.Slug, m[1])
		}
	}
	listed, err := filepath.Glob("*.md")
	require.Check(t, err == nil && len(listed) == len(Topics),
		"%d files for %d topics, %v", len(listed), len(Topics), err)
}

// TestReadme checks the links of the README and that it stays short.
func TestReadme(t *testing.T) {
	t.Parallel()
	text := require.Value(os.ReadFile("../../README.md"))(t)
	n := strings.Count(string(text), "\n")
	require.Check(t, n <= 130, "README.md has %d lines; move what is more than 130 to the manual", n)
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		_, err := os.Stat(filepath.Join("../..", filepath.FromSlash(m[1])))
		require.Check(t, err == nil, "README.md links to %s: %v", m[1], err)
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"embed":            "teaching#embed-a-demo", // a heading goes before what is in the text
		"IS the Real":      "compare#is-the-difference-real",
		"gap-subsequence":  "data#strings",
		"tu dortmund":      "data#graphs",
		"caddy":            "server#as-a-service",
		"no such word":     "",
		"   ":              "",
		"kernel matrices ": "lab#strings-graphs-and-kernel-matrices",
	} {
		got := ""
		if hits := Search(query); len(hits) > 0 {
			got = hits[0].Topic.Slug + "#" + hits[0].ID
		}
		require.Check(t, got == want, "%q finds %q first, want %q", query, got, want)
	}
}

// recorder notes the parts that a topic prints.
type recorder struct{ parts []string }

func (r *recorder) Heading(level int, text string) {
	r.parts = append(r.parts, strings.Repeat("#", level)+text)
}
func (r *recorder) Paragraph(text string) { r.parts = append(r.parts, text) }
func (r *recorder) Item(depth int, mark, text string) {
	r.parts = append(r.parts, strings.Repeat(" ", depth)+mark+text)
}
func (r *recorder) Code(text string)            { r.parts = append(r.parts, "|"+text) }
func (r *recorder) Strong(text string) string   { return "<" + text + ">" }
func (r *recorder) Emphasis(text string) string { return "_" + text + "_" }

// TestPrint checks that every kind of block arrives in order, with its fonts.
func TestPrint(t *testing.T) {
	t.Parallel()
	all := map[string]string{}
	for _, topic := range Topics {
		var r recorder
		topic.Print(&r)
		all[topic.Slug] = strings.Join(r.parts, "\n")
	}
	for slug, want := range map[string]string{
		"lab":      "##Draw and edit points\nPress _Edit points_.\n-Click to add a point",
		"learners": "-_combined_ adds and multiplies other kernels:\n|marginlab fit --data points.csv",
		"speed":    "|comparison                          ",
		"claims":   "4.00 · 3.58\n\ndata set                  MCM, map  ",
	} {
		require.Check(t, strings.Contains(all[slug], want), "%s lacks %q:\n%s", slug, want, all[slug])
	}
	// A table has names and rows; lines with bars that are none stay a paragraph.
	const table = "text\n\n| a | `b` |\n|---|---|\n| **1** | |\n| 2 | 3 |\n"
	const want = "<p>text</p>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th><code>b</code></th>\n</tr>\n</thead>\n<tbody>\n" +
		"<tr>\n<td><strong>1</strong></td>\n<td></td>\n</tr>\n<tr>\n<td>2</td>\n<td>3</td>\n</tr>\n</tbody>\n</table>\n"
	require.Equal(t, require.Value(Fragment(table))(t), want, "HTML")
	for _, text := range []string{"a | b", "| a |\n| b |\n| c |", "| a |\n|---|\n| b", "| a |\n|---|", "|\n|---|\n| a |"} {
		require.Equal(t, require.Value(Fragment(text))(t), "<p>"+text+"</p>\n", "HTML")
	}
}

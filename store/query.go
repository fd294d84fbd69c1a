package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// A Query selects runs, such as `C > 1 and kernel = rbf and accuracy >= 90%`:
//
//	query      = and {"or" and}
//	and        = not {"and" not}
//	not        = "not" not | "(" query ")" | comparison | text
//	comparison = field ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") value
//	value      = word | "quoted text"
//
// ~ means "contains". A text alone is searched for in name, data, note and tags. The value none
// stands for a missing value: = none matches runs without one, != none those with one. Case is
// ignored. The zero Query matches all runs.
type Query struct {
	text  string
	loose bool // ends with an "or" outside parentheses
	where string
	args  []any
}

// String returns the text of the query.
func (q Query) String() string { return q.text }

// maxQuery is the largest number of characters in a query.
const maxQuery = 1000

// QueryError reports an error in a query and its place.
type QueryError struct {
	Column  int // of the character, from 1; at the end, one more than the length
	Message string
}

// Error returns the position of the error and its description.
func (e *QueryError) Error() string { return fmt.Sprintf("character %d: %s", e.Column, e.Message) }

// ParseQuery reads a query. Errors are *QueryError.
func ParseQuery(text string) (q Query, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return q, nil
	}
	if n := utf8.RuneCountInString(text); n > maxQuery {
		return q, &QueryError{maxQuery + 1, fmt.Sprintf("a filter has at most %d characters, not %d", maxQuery, n)}
	}
	p := queryParser{}
	if p.tokens, err = queryTokens(text); err != nil {
		return q, err
	}
	defer func() { // the parser reports errors by panicking
		if r := recover(); r != nil {
			wrong, ok := r.(*QueryError)
			if !ok {
				panic(r)
			}
			q, err = Query{}, wrong
		}
	}()
	q.text, q.where = text, p.or(&q.loose)
	if t := p.peek(); t.kind != endToken {
		p.fail(t, "expected and, or, or the end%s, not %s", p.hint(), t)
	}
	q.args = p.args
	return q, nil
}

// Quoted returns text quoted for a query if necessary.
func Quoted(text string) string {
	plain := text != "" && !slices.Contains([]string{"and", "or", "not", none}, strings.ToLower(text))
	for _, c := range text {
		plain = plain && wordRune(c)
	}
	if plain {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// And returns q with another condition. It returns the errors of ParseQuery.
func (q Query) And(text string) (Query, error) {
	switch {
	case q.loose:
		text = "(" + q.text + ") and " + text
	case q.text != "":
		text = q.text + " and " + text
	}
	return ParseQuery(text)
}

// In returns q restricted to a group by a field.
func (q Query) In(by Field, g Group) (Query, error) {
	if g.None {
		return q.And(by.Name + " = " + none)
	}
	return q.And(by.Name + " = " + Quoted(g.Value))
}

// MustQuery is ParseQuery for constant queries; it panics on errors.
func MustQuery(text string) Query {
	q, err := ParseQuery(text)
	if err != nil {
		panic(err)
	}
	return q
}

// none matches runs without a value.
const none = "none"

type tokenKind int

const (
	endToken tokenKind = iota
	wordToken
	quotedToken
	operatorToken // also parentheses
)

type queryToken struct {
	kind   tokenKind
	text   string
	column int
}

// String names the token in messages.
func (t queryToken) String() string {
	if t.kind == endToken {
		return "the end"
	}
	return strconv.Quote(t.text)
}

func (t queryToken) is(word string) bool {
	return t.kind == wordToken && strings.EqualFold(t.text, word) || t.kind == operatorToken && t.text == word
}

// compares reports whether the token is a comparison operator.
func (t queryToken) compares() bool {
	return t.kind == operatorToken && t.text != "(" && t.text != ")"
}

func wordRune(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-+.:%/@#&*'²", c)
}

func queryTokens(text string) (all []queryToken, err error) {
	runes := []rune(text)
	for i := 0; i < len(runes); {
		from, c := i, runes[i]
		add := func(kind tokenKind, text string) { all = append(all, queryToken{kind, text, from + 1}) }
		switch {
		case unicode.IsSpace(c):
			i++
		case c == '"':
			var b strings.Builder
			for i++; i < len(runes) && runes[i] != '"'; i++ {
				if runes[i] == '\\' && i+1 < len(runes) {
					i++
				}
				b.WriteRune(runes[i])
			}
			if i >= len(runes) {
				return nil, &QueryError{from + 1, `this " is not closed`}
			}
			i++
			add(quotedToken, b.String())
		case strings.ContainsRune("()=~", c):
			if i++; c == '=' && i < len(runes) && runes[i] == '=' { // == as in programs
				i++
			}
			add(operatorToken, string(c))
		case strings.ContainsRune("<>!", c):
			op := string(c)
			if i++; i < len(runes) && runes[i] == '=' {
				op, i = op+"=", i+1
			}
			if op == "!" {
				return nil, &QueryError{from + 1, "expected !=; to negate a condition, write not before it"}
			}
			add(operatorToken, op)
		case c == '≤' || c == '≥' || c == '≠':
			i++
			add(operatorToken, map[rune]string{'≤': "<=", '≥': ">=", '≠': "!="}[c])
		case wordRune(c):
			for i < len(runes) && wordRune(runes[i]) {
				i++
			}
			add(wordToken, string(runes[from:i]))
		default:
			return nil, &QueryError{from + 1, fmt.Sprintf(`unexpected %q: put a text with such characters in quotes, "…"`, c)}
		}
	}
	return append(all, queryToken{endToken, "", len(runes) + 1}), nil
}

// queryParser turns tokens into SQL. At a fault it panics with a *QueryError,
// which ParseQuery returns.
type queryParser struct {
	tokens []queryToken
	at     int
	args   []any
}

func (p *queryParser) peek() queryToken { return p.tokens[p.at] }

func (p *queryParser) next() queryToken {
	t := p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *queryParser) take(word string) bool {
	if p.peek().is(word) {
		p.at++
		return true
	}
	return false
}

func (p *queryParser) fail(t queryToken, format string, args ...any) {
	panic(&QueryError{t.column, fmt.Sprintf(format, args...)})
}

// hint returns a hint for two adjacent words.
func (p *queryParser) hint() string {
	if p.at > 0 && p.tokens[p.at-1].kind == wordToken && p.peek().kind == wordToken {
		return fmt.Sprintf(` (put a text of several words in quotes, "%s %s")`, p.tokens[p.at-1].text, p.peek().text)
	}
	return ""
}

func (p *queryParser) or(loose *bool) string {
	terms := []string{p.and()}
	for p.take("or") {
		terms = append(terms, p.and())
	}
	*loose = len(terms) > 1
	return either(terms, " OR ")
}

func (p *queryParser) and() string {
	terms := []string{p.not()}
	for p.take("and") {
		terms = append(terms, p.not())
	}
	return either(terms, " AND ")
}

func either(terms []string, by string) string {
	if len(terms) == 1 {
		return terms[0]
	}
	return "(" + strings.Join(terms, by) + ")"
}

func (p *queryParser) not() string {
	negated := false
	for p.take("not") {
		negated = !negated
	}
	term := p.primary()
	if negated {
		return "NOT " + term
	}
	return term
}

func (p *queryParser) primary() string {
	t := p.next()
	switch {
	case t.is("("):
		var loose bool
		term := p.or(&loose)
		if end := p.next(); !end.is(")") {
			p.fail(end, `expected and, or, or the ")" for the "(" at character %d%s, not %s`, t.column, p.hint(), end)
		}
		return term
	case t.kind == quotedToken && !p.peek().compares():
		return p.anywhere(t)
	case t.kind != wordToken || t.is("and") || t.is("or"):
		p.fail(t, "expected a condition such as kernel = rbf, not %s", t)
	case p.peek().compares():
		return p.comparison(t)
	}
	if _, known := LookupField(t.text); known && p.peek().kind != endToken && !p.peek().is("and") && !p.peek().is("or") && !p.peek().is(")") {
		p.fail(p.peek(), "expected =, !=, <, <=, >, >= or ~ after %s, not %s", t.text, p.peek())
	}
	return p.anywhere(t)
}

// anywhere returns SQL that searches for a text.
func (p *queryParser) anywhere(t queryToken) string {
	like := containing(t.text)
	p.args = append(p.args, like, like, like, like)
	return `(name LIKE ? ESCAPE '\' OR dataset_name LIKE ? ESCAPE '\' OR note LIKE ? ESCAPE '\'
		OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value LIKE ? ESCAPE '\'))`
}

func containing(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

func (p *queryParser) comparison(name queryToken) string {
	f, ok := LookupField(name.text)
	if !ok {
		names := lists.Map(Fields(), func(f Field) string { return f.Name })
		for alias := range aliases {
			names = append(names, alias)
		}
		slices.Sort(names)
		p.fail(name, "there is no field %q%s", name.text, param.DidYouMean(name.text, "", names))
	}
	op, v := p.next(), p.next()
	if v.kind != wordToken && v.kind != quotedToken || v.kind == wordToken && (v.is("and") || v.is("or") || v.is("not")) {
		p.fail(v, "expected %s after %s, not %s", expected(f), op.text, v)
	}
	if v.is(none) {
		switch empty := f.expr + " IS NULL"; {
		case f.Kind == ListField && op.text == "=":
			return "(tags = '[]' OR tags = 'null')"
		case f.Kind == ListField && op.text == "!=":
			return "(tags != '[]' AND tags != 'null')"
		case op.text == "=":
			return "(" + empty + ")"
		case op.text == "!=":
			return "(" + f.expr + " IS NOT NULL)"
		}
		p.fail(op, "expected = or != before none, not %s", op)
	}
	if op.text == "!=" {
		return "NOT " + p.compare(f, queryToken{operatorToken, "=", op.column}, v)
	}
	return p.compare(f, op, v)
}

// compare returns SQL that is never NULL: a missing value meets no condition.
func (p *queryParser) compare(f Field, op, v queryToken) string {
	known := func(condition string, args ...any) string {
		p.args = append(p.args, args...)
		return "coalesce(" + condition + ", 0)"
	}
	if op.text == "~" {
		if f.Kind != TextField && f.Kind != ListField {
			p.fail(op, "%s is not a text: expected =, !=, <, <=, > or >=, not ~", f.Name)
		}
		if f.Kind == ListField {
			return known(`EXISTS (SELECT 1 FROM json_each(tags) WHERE value LIKE ? ESCAPE '\')`, containing(v.text))
		}
		return known(f.expr+` LIKE ? ESCAPE '\'`, containing(v.text))
	}
	switch f.Kind {
	case NumberField:
		x, err := queryNumber(v)
		if err != nil {
			p.fail(v, "expected %s after %s, not %s", expected(f), op.text, v)
		}
		if f.Unit == ml.Share && x > 1 && x <= 100 && !strings.HasSuffix(v.text, "%") {
			p.fail(v, "%s is at most 1: write %s%%", f.Label, v.text)
		}
		return known(f.expr+" "+op.text+" ?", x)
	case TimeField:
		low, high, ok := queryTime(v.text)
		if !ok {
			p.fail(v, "expected %s after %s, not %s", expected(f), op.text, v)
		}
		switch op.text {
		case "=":
			return known("("+f.expr+" >= ? AND "+f.expr+" < ?)", low, high)
		case ">", "<=":
			return known(f.expr+" "+map[string]string{">": ">=", "<=": "<"}[op.text]+" ?", high)
		}
		return known(f.expr+" "+op.text+" ?", low)
	case ListField:
		if op.text != "=" {
			p.fail(op, "%s is a list: expected =, != or ~, not %s", f.Label, op)
		}
		return known(`EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ? COLLATE NOCASE)`, v.text)
	}
	if f.Values != nil && !slices.ContainsFunc(f.Values, func(s string) bool { return strings.EqualFold(s, v.text) }) {
		if near := param.DidYouMean(v.text, "", f.Values); near != "" {
			p.fail(v, "%s cannot be %s%s", f.Name, v, near)
		}
		p.fail(v, "expected %s after %s, not %s", expected(f), op.text, v)
	}
	return known(f.expr+" "+op.text+" ? COLLATE NOCASE", v.text)
}

// expected describes the values of a field.
func expected(f Field) string {
	switch {
	case f.Kind == NumberField && f.Unit == ml.Share:
		return "a number, such as 0.9 or 90%,"
	case f.Kind == NumberField:
		return "a number"
	case f.Kind == TimeField:
		return "a day, such as 2026-11-22, or a time, such as 2026-11-22T15:04,"
	case f.Values != nil:
		return "one of " + strings.Join(f.Values, ", ")
	}
	return "a text"
}

// queryNumber parses a number or a percentage.
func queryNumber(v queryToken) (float64, error) {
	text, percent := strings.CutSuffix(v.text, "%")
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, err
	}
	if x != x { // SQLite treats NaN as NULL
		return 0, strconv.ErrSyntax
	}
	if percent {
		x /= 100
	}
	return x, nil
}

// queryTime reads a day or time as milliseconds, from low up to but excluding high.
func queryTime(text string) (low, high int64, ok bool) {
	for _, form := range []struct {
		layout string
		long   time.Duration
	}{{"2006-01-02", 24 * time.Hour}, {"2006-01-02T15:04", time.Minute}, {"2006-01-02T15:04:05", time.Second}, {time.RFC3339, time.Second}} {
		if t, err := time.Parse(form.layout, text); err == nil {
			return t.UnixMilli(), t.Add(form.long).UnixMilli(), true
		}
	}
	return 0, 0, false
}

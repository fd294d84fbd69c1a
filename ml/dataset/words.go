package dataset

import (
	"fmt"
	"maps"
	"slices"
)

// mostWords is the largest number of distinct words in a column for which each becomes a feature.
const mostWords = 20

// Words returns the distinct words of a column, in order, if each can become an indicator
// feature, and nil for a column of numbers, of dates, of a single word, or of more than 20
// words. Numbers among words, as in 0, 1, 2, 3+, count as words if each repeats.
func (c *Column) Words() []string {
	if c.Numeric || c.Dates() || !c.IsText() && (c.Gappy() || !factsOf(c).category()) {
		return nil
	}
	found := make(map[string]bool)
	for s := range c.values() {
		if missing(s) {
			continue
		}
		if found[s] = true; len(found) > mostWords || checkText("name", indicator(c.Name, s)) != nil {
			return nil
		}
	}
	if len(found) < 2 {
		return nil
	}
	return slices.Sorted(maps.Keys(found))
}

// indicators returns the indicator features of a column of words: one per word, or for two words
// only the second, which determines the first; nil for other columns.
func (c *Column) indicators() (names []string) {
	words := c.Words()
	if len(words) == 2 {
		words = words[1:]
	}
	for _, w := range words {
		names = append(names, indicator(c.Name, w))
	}
	return names
}

// indicator returns the name of the feature that is 1 where the column holds the word, 0 elsewhere.
func indicator(column, word string) string { return column + "=" + word }

// ColumnOf returns the column that a feature stands for, one that has accepts: that of its own name,
// which may contain "=", or else that of a word, as colour for colour=red. It is empty if there is none.
func ColumnOf(feature string, has func(column string) bool) string {
	if has(feature) {
		return feature
	}
	for at, sign := range feature {
		if sign == '=' && has(feature[:at]) {
			return feature[:at]
		}
	}
	return ""
}

// AddIndicators adds a column for each named feature that is a word of a column, as in
// colour=red: 1 in rows with that word, 0 in rows with another, missing in rows without one.
// It ignores names that the table already has and names that match no word of a column. It returns
// notes on columns with words that are not among the features.
func (t *Table) AddIndicators(features []string) (notes []string) {
	own := *t // without the added ones: the words red and Red each have a feature
	find := own.finder()
	known := make([][]string, len(own.Columns))
	for _, name := range features {
		var j int
		column := ColumnOf(name, func(s string) bool {
			var err error
			j, err = find(s)
			return err == nil && (s == name || !own.Columns[j].Numeric)
		})
		if column == "" || column == name {
			continue
		}
		word := name[len(column)+1:]
		t.Columns = append(t.Columns, own.Columns[j].is(name, word))
		known[j] = append(known[j], word)
	}
	for j, words := range known {
		if words == nil {
			continue
		}
		c := &own.Columns[j]
		others := make(map[string]bool)
		for s := range c.values() {
			if !missing(s) && !slices.Contains(words, s) {
				others[s] = true
			}
		}
		switch all := list(slices.Sorted(maps.Keys(others))); {
		case len(words) > 1 && len(others) > 0:
			notes = append(notes, fmt.Sprintf("%s: not in the training set, so read as none of its words: %s", quote(c.Name), all))
		case len(others) > 1: // one word is the second of the training set, which is no feature
			notes = append(notes, fmt.Sprintf("%s: two words in the training set; %s read as one", quote(c.Name), all))
		}
	}
	return notes
}

// is returns the indicator column of a word in c, under the given name.
func (c *Column) is(name, word string) Column {
	r := Column{Name: name, cells: cells{expected: c.Len()}}
	for _, s := range c.all() {
		switch {
		case s == word:
			s = "1"
		case !missing(s):
			s = "0"
		}
		r.add(s)
	}
	r.weigh()
	return r
}

// unfold replaces each column of words among the features by its indicators, with a note. If
// gaps, words may be missing.
func (t *Table) unfold(features []string, gaps bool) (unfolded []string, notes []string, err error) {
	find := t.finder()
	for _, name := range features {
		j, err := find(name)
		if err != nil {
			return nil, nil, err
		}
		c := &t.Columns[j]
		names := c.indicators()
		switch {
		case names == nil:
			names = []string{c.Name}
		case slices.Contains(unfolded, names[0]):
			return nil, nil, t.fault(-1, j, "chosen as a feature twice")
		case c.lacks() && !gaps:
			return nil, nil, t.notNumber(slices.IndexFunc(c.list(), missing), j)
		case len(names) == 1:
			notes = append(notes, fmt.Sprintf("%s encoded as 0 and 1, %s", quote(c.Name), quote(names[0])))
		default:
			notes = append(notes, fmt.Sprintf("%s one-hot encoded in %d columns", quote(c.Name), len(names)))
		}
		unfolded = append(unfolded, names...)
	}
	lim := t.limits.orDefault()
	if len(unfolded) == len(features) {
		return unfolded, notes, nil
	}
	if n := int64(len(unfolded)) * int64(len(t.Lines)); len(unfolded) >= lim.Columns || n > lim.cells() {
		return nil, nil, &Error{File: t.File, Message: fmt.Sprintf("expected at most %d features and %d values after one-hot encoding, found %d and %d: choose fewer columns of words", lim.Columns-1, lim.cells(), len(unfolded), n), Err: ErrTooLarge}
	}
	return unfolded, notes, nil
}

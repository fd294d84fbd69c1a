package param

import "strings"

// DidYouMean returns a suggestion of the name nearest to the typed one, with prefix before it, such
// as " (did you mean fit?)", or "" if none is near.
func DidYouMean(typed, prefix string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		if len(typed) > 2*len(name) {
			continue // lengths differ too much
		}
		d := distance(strings.ToLower(typed), strings.ToLower(name))
		if 3*d <= max(len(typed), len(name)) && (best == "" || d < least) { // one typo in three letters
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + prefix + best + "?)"
}

// distance returns the optimal string alignment distance of a and b: the number of insertions,
// deletions, substitutions and swaps of neighbouring letters, without editing any letter twice.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

package mcm

// WithInterior returns s with the rank from which the interior point method
// takes over.
func (s Settings) WithInterior(rank int) Settings {
	s.interiorRank = rank
	return s
}

package mcm

// WithInterior returns s with the given minimal rank for the interior point method.
func (s Settings) WithInterior(rank int) Settings {
	s.interiorRank = rank
	return s
}

package eval

// Sobol is for tests.
var Sobol = sobol

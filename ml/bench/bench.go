// Package bench measures Margin Lab beside the programs people would use
// otherwise: LIBSVM's svm-train, the MCM's linear programme in HiGHS, scikit-learn
// with matplotlib, R's kernlab for several classes as one problem and for strings, and networkx with SciPy
// for graphs. It has tests only, which take minutes and need those programs, so they are
// behind a build tag:
//
//	go test -tags peers -timeout 0 -v ./ml/bench
//	go test -tags peers -timeout 0 -v ./ml/bench -full
//
// A peer that is not installed is named and skipped.
package bench

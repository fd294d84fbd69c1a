// Package bench compares Margin Lab with other programs: LIBSVM's svm-train, HiGHS for the linear
// program of the MCM, scikit-learn with matplotlib, R's kernlab for joint multi-class machines
// and strings, and networkx with SciPy for graphs. It has only tests. They take minutes and need
// these programs, so they are behind a build tag:
//
//	go test -tags peers -timeout 0 -v ./ml/bench
//	go test -tags peers -timeout 0 -v ./ml/bench -full
//
// Programs that are not installed are named and skipped.
package bench

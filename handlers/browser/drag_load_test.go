//go:build load

package browser

import (
	"fmt"
	"testing"
)

// dragC moves the slider of C for four seconds, a step per frame, and returns what was on
// screen meanwhile.
const dragC = `(async () => {
	const range = document.querySelector("[data-field=C] input[type=range]");
	performance.clearMarks("picture");
	performance.clearResourceTimings();
	performance.setResourceTimingBufferSize(10000);
	const gaps = [];
	let last = performance.now(), position = Number(range.value), step = 4;
	const until = last + 4000;
	await new Promise((done) => requestAnimationFrame(function frame() {
		const now = performance.now();
		gaps.push(now - last);
		last = now;
		if (now > until) return done();
		position += step;
		if (position < 300 || position > 800) step = -step;
		range.value = position;
		range.dispatchEvent(new Event("input", { bubbles: true }));
		requestAnimationFrame(frame);
	}));
	const marks = performance.getEntriesByName("picture").map((m) => m.startTime);
	const first = marks.length ? marks[0] - (until - 4000) : -1;
	const answers = performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/lab/live"));
	range.dispatchEvent(new Event("change", { bubbles: true }));
	gaps.sort((a, b) => a - b);
	const median = (v) => v.sort((a, b) => a - b)[v.length >> 1] ?? 0;
	return {
		Pictures: marks.length / 4, First: first, Longest: gaps.at(-1), Late: gaps.filter((g) => g > 50).length,
		Took: median(answers.map((e) => e.duration)), Bytes: median(answers.map((e) => e.decodedBodySize)),
	};
})()`

// TestDrag prints how many pictures a second a drag of C shows, how long the first took and
// the longest frame lasted (milliseconds), and what an answer took and weighed:
//
//	go test -tags load -run TestDrag -v ./handlers/browser
func TestDrag(t *testing.T) {
	s := start(t)
	for _, c := range []struct{ name, query string }{
		{"300 svm", "data=new-moons&gen.n=300"},
		{"300 mcm", "data=new-moons&gen.n=300&learner=mcm"},
		{"300 conformal", "data=new-moons&gen.n=300&conformal=eigen"},
		{"2000 svm", "data=new-moons&gen.n=2000"},
		{"2000 five classes", "data=new-cross&gen.n=2000"},
		{"2000 conformal", "data=new-moons&gen.n=2000&conformal=eigen"},
		{"20000 svm", "data=new-moons&gen.n=20000"},
		{"20000 mcm", "data=new-moons&gen.n=20000&learner=mcm"},
	} {
		p := open(t, s)
		p.visit("/lab?" + c.query)
		p.picture(".stage img")
		p.wait(answered)
		get[bool](p, "("+dragC+".then((r) => (globalThis.dragged = r)), true)")
		p.wait("globalThis.dragged")
		r := get[struct{ Pictures, First, Longest, Late, Took, Bytes float64 }](p, "globalThis.dragged")
		fmt.Printf("%-20s %5.1f pictures/s  first %4.0f ms  longest frame %4.0f ms (%2.0f over 50)  answer %4.0f ms %7.0f bytes\n", c.name, r.Pictures, r.First, r.Longest, r.Late, r.Took, r.Bytes)
		p.wait(answered)
	}
}

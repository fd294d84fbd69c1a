//go:build load

package browser

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// dragC begins to move the slider of C and returns what moves it on, and ends it.
const dragC = `(() => {
	const range = document.querySelector("[data-field=C] input[type=range]");
	let position = Number(range.value), step = 4;
	return {
		move() {
			position += step;
			if (position < 300 || position > 800) step = -step;
			range.value = position;
			range.dispatchEvent(new Event("input", { bubbles: true }));
		},
		end: () => range.dispatchEvent(new Event("change", { bubbles: true })),
	};
})`

// dragPoint does the same with the middle one of the points, around where it was.
const dragPoint = `(() => {
	document.body.setPointerCapture = () => {}; // there is no such pointer
	const stage = document.querySelector(".stage"), image = stage.querySelector("img"), { points, frames } = JSON.parse(stage.dataset.stage);
	const f = frames[image.naturalWidth] ?? Object.values(frames).at(-1), box = image.getBoundingClientRect();
	const scale = box.width / (image.naturalWidth || box.width), [s, t] = points[points.length >> 1], l = f.limits;
	const x = box.left + scale * (f.left + f.width * (s - l.x_min) / (l.x_max - l.x_min)), y = box.top + scale * (f.top + f.height * (l.y_max - t) / (l.y_max - l.y_min));
	const tell = (type, target, dx, dy) => target.dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, pointerId: 7, pointerType: "mouse", button: 0, buttons: 1, clientX: x + dx, clientY: y + dy }));
	tell("pointerdown", stage, 0, 0);
	let turn = 0;
	return {
		move() {
			turn += 0.05;
			tell("pointermove", document, 40 * Math.sin(turn), 40 * (1 - Math.cos(turn)));
		},
		end: () => tell("pointerup", document, 0, 0),
	};
})`

// drag moves something for four seconds, a step per frame, and returns what was on screen
// meanwhile.
const drag = `(async (begin) => {
	performance.clearMarks("picture");
	performance.clearResourceTimings();
	performance.setResourceTimingBufferSize(10000);
	const gaps = [];
	const held = begin();
	let last = performance.now();
	const until = last + 4000;
	await new Promise((done) => requestAnimationFrame(function frame() {
		const now = performance.now();
		gaps.push(now - last);
		last = now;
		if (now > until) return done();
		held.move();
		requestAnimationFrame(frame);
	}));
	const marks = performance.getEntriesByName("picture").map((m) => m.startTime);
	const first = marks.length ? marks[0] - (until - 4000) : -1;
	const answers = performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/lab/live"));
	held.end();
	gaps.sort((a, b) => a - b);
	const median = (v) => v.sort((a, b) => a - b)[v.length >> 1] ?? 0;
	return {
		Pictures: marks.length / 4, First: first, Longest: gaps.at(-1), Late: gaps.filter((g) => g > 50).length,
		Took: median(answers.map((e) => e.duration)), Bytes: median(answers.map((e) => e.decodedBodySize)),
	};
})`

// others are visitors who drag C of the same page as well, each with one question at a time, until
// ctx ends.
func (p *page) others(ctx context.Context, n int, query string) (gone func()) {
	var all sync.WaitGroup
	for k := range n {
		c := p.server.client()
		all.Go(func() {
			for step := 0; ctx.Err() == nil; step++ {
				body := fmt.Sprintf("%s&coarse=1&motion=1&C=%g", query, 0.1+float64((step*7+k)%100)/10)
				r, err := c.http.Post(p.base+"/lab/live", "application/x-www-form-urlencoded", strings.NewReader(body))
				if err == nil {
					r.Body.Close()
				}
			}
		})
	}
	return all.Wait
}

// TestDrag prints how many pictures a second a drag of C or of a point shows, how long the first took and
// the longest frame lasted (milliseconds), and what an answer took and weighed:
//
//	go test -tags load -run TestDrag -v ./handlers/browser
func TestDrag(t *testing.T) {
	s := start(t)
	const small = "data=new-moons&gen.n=300"
	for _, c := range []struct {
		name, query, begin string
		others             int
	}{
		{"300 svm", small, dragC, 0},
		{"300 svm, a point", small, dragPoint, 0},
		{"300 svm, ten others", small, dragC, 10},
		{"300 mcm", small + "&learner=mcm", dragC, 0},
		{"300 conformal", small + "&conformal=eigen", dragC, 0},
		{"2000 svm", "data=new-moons&gen.n=2000", dragC, 0},
		{"2000 five classes", "data=new-cross&gen.n=2000", dragC, 0},
		{"2000 conformal", "data=new-moons&gen.n=2000&conformal=eigen", dragC, 0},
		{"20000 svm", "data=new-moons&gen.n=20000", dragC, 0},
		{"20000 mcm", "data=new-moons&gen.n=20000&learner=mcm", dragC, 0},
	} {
		p := open(t, s)
		p.visit("/lab?" + c.query)
		p.picture(".stage img")
		p.wait(answered)
		if c.begin == dragPoint {
			p.click("[data-act=edit]")
			p.wait(`document.querySelector(".stage.editing")`)
		}
		ctx, end := context.WithCancel(t.Context())
		gone := p.others(ctx, c.others, c.query)
		get[bool](p, "("+drag+"("+c.begin+").then((r) => (globalThis.dragged = r)), true)")
		p.wait("globalThis.dragged")
		end()
		gone()
		r := get[struct{ Pictures, First, Longest, Late, Took, Bytes float64 }](p, "globalThis.dragged")
		fmt.Printf("%-20s %5.1f pictures/s  first %4.0f ms  longest frame %4.0f ms (%2.0f over 50)  answer %4.0f ms %7.0f bytes\n", c.name, r.Pictures, r.First, r.Longest, r.Late, r.Took, r.Bytes)
		p.wait(answered)
	}
}

package lessons

var risk = Lesson{
	Slug: "risk", Title: "Risk, shattering and bounds",
	Summary: "What can be promised about new points, and when the promise is empty.",
	Screens: []Screen{{Slug: "start", Title: "Risk, shattering and bounds", Words: riskStart}},
}

package lessons

var softmargin = Lesson{
	Slug: "soft-margin", Title: "The soft margin",
	Summary: "Slack, the hinge loss and what C does, up to both extremes.",
	Screens: []Screen{{Slug: "start", Title: "The soft margin", Words: softmarginStart}},
}

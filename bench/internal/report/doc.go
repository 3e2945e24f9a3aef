// Package report turns measurements into what people and programs read: a table on the terminal, one
// JSON object, the pages of docs/ and plots as SVG.
//
// A Report has Rows, one for each result on each target, beside the Aim that it is measured against;
// Curves, a TimeSeries, notes, and its Origin (when, where, of which commit, by which command).
// MedianOf makes one report of several runs, Compare tells two saved ones apart, WriteResults and
// WriteHeadlines put figures between the marks of Markdown files, where what people wrote by hand
// stays.
//
// The JSON form is the types' own: "origin", "options" (the flags in force), "rows" (whose field
// names carry their units), "growth", "course" and "notes".
package report

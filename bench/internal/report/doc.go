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
//
// Nothing here measures or talks to a server, so saved reports can be worked on anywhere. Values that were
// not measured are nil or blank and never zero: a zero is a claim.
//
// Every page and plot is written so that a change of figures is a small diff: rows keep their order, and
// nothing depends on the order of a map or on the time of writing.
//
// A new form of output is a function of a Report that writes text; what it needs is in the Report already,
// or has to be measured and saved first, so that it also works on reports of other days.
package report

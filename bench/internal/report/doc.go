// Package report turns measurements into a table on the terminal, a JSON object, and plots of growth as
// SVG.
//
// A Report has Rows, one for each result on each target; Curves, a TimeSeries, notes, and its Origin
// (time, machine, commit, command). MedianOf makes one report of several runs, Compare
// prints two saved ones side by side.
//
// The JSON form is the types' own: "origin", "options" (the flags in force), "rows" (whose field
// names carry their units), "growth", "course" and "notes".
//
// Values that were not measured are nil or blank and never zero: a zero is a claim.
package report

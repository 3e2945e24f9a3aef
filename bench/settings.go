package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/report"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// measureSettings measures all settings and puts their table between the marks of a Markdown file. The
// lines around the marks are written by hand; nothing else in the file changes. A setting that cannot be
// measured ends the run, because half a table would look like a whole one.
func (b *Bench) measureSettings(ctx context.Context) error {
	var lines strings.Builder
	lines.WriteString("\n| Symptom | Shows as | Setting | Measured |\n|---|---|---|---|\n")
	for _, setting := range scenario.Settings() {
		b.logf("%s …", setting.Key)
		var measured []string
		for _, trial := range setting.Trials {
			results, err := setting.Measure(ctx, trial, b.session)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", setting.Key, trial.Value, err)
			}
			var figures []string
			for _, result := range results {
				row := report.NewRow(fmt.Sprintf("%s %s, %s", setting.Key, trial.Value, result.Name), "", result.Sample, result.Figure)
				b.Report.Add(row)
				figures = append(figures, settingCell(result, row))
			}
			measured = append(measured, fmt.Sprintf("%s: %s", trial.Value, strings.Join(figures, ", ")))
		}
		_, _ = fmt.Fprintf(&lines, "| %s | %s | %s | %s |\n", setting.Symptom, setting.Shows, setting.Title(), strings.Join(measured, "<br>"))
	}
	return report.ReplaceSection(b.Options.Settings, "settings", b.Report.Origin.Line()+lines.String())
}

// settingCell is a result as the table of settings tells it. What is shown is the best that was measured: a
// figure of the workload, else CPU time, else latency. Cells are short, as several values share one.
func settingCell(r scenario.Result, row *report.Row) string {
	switch {
	case r.Figure != nil:
		return report.FigureCell(r.Figure)
	case row.CPU != nil:
		return fmt.Sprintf("%s CPU per %s", measure.Span(*row.CPU), r.Name)
	}
	return fmt.Sprintf("%s per %s", measure.Span(row.P50), r.Name)
}

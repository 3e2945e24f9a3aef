package main

import (
	"context"
	"fmt"
	"strings"
)

// measureSettings measures all settings and puts their table between the marks of a Markdown file.
func (b *Bench) measureSettings(ctx context.Context) error {
	var lines strings.Builder
	lines.WriteString("\n| Symptom | Shows as | Setting | Measured |\n|---|---|---|---|\n")
	for _, setting := range settings() {
		b.logf("%s …", setting.key)
		var measured []string
		for _, trial := range setting.trials {
			results, err := setting.measure(ctx, trial, b.session)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", setting.key, trial.value, err)
			}
			var figures []string
			for _, result := range results {
				row := newRow(fmt.Sprintf("%s %s, %s", setting.key, trial.value, result.Name), "", result.Sample, result.Figure)
				b.Report.add(row)
				figures = append(figures, settingCell(result, row))
			}
			measured = append(measured, fmt.Sprintf("%s: %s", trial.value, strings.Join(figures, ", ")))
		}
		_, _ = fmt.Fprintf(&lines, "| %s | %s | %s | %s |\n", setting.symptom, setting.shows, setting.title(), strings.Join(measured, "<br>"))
	}
	return replaceSection(b.Options.Settings, "settings", b.Report.Origin.line()+lines.String())
}

// settingCell is a result as the table of settings tells it.
func settingCell(r Result, row *Row) string {
	switch {
	case r.Figure != nil:
		return figureCell(r.Figure)
	case row.CPU != nil:
		return fmt.Sprintf("%s CPU per %s", span(*row.CPU), r.Name)
	}
	return fmt.Sprintf("%s per %s", span(row.P50), r.Name)
}

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/troupe-api/troupe/bench/internal/report"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// measureGrowth measures all curves on all targets and writes their plots. A plot that cannot be written
// does not keep the others from it.
func (b *Bench) measureGrowth(ctx context.Context) error {
	for _, target := range b.targets {
		if err := scenario.MeasureGrowth(ctx, b.session(target), b.logf, b.Report.AddPoint); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(b.Options.Growth, 0o755); err != nil {
		return err
	}
	var failed error
	for _, curve := range b.Report.Growth {
		path := filepath.Join(b.Options.Growth, "growth-"+curve.Name+".svg")
		failed = errors.Join(failed, os.WriteFile(path, report.PlotCurve(curve), 0o644))
	}
	return failed
}

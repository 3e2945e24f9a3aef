package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

var chartVersion = regexp.MustCompile(`(?m)^(version|appVersion): .*$`)

// chart packs the Helm chart with the release's version.
func (r *release) chart() error {
	dir := filepath.Join(r.work, "chart")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(r.source, "docs/deploy/chart"))); err != nil {
		return err
	}
	file := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := len(chartVersion.FindAll(text, -1)); n != 2 {
		return fmt.Errorf("docs/deploy/chart/Chart.yaml: %d lines with a version, want version and appVersion", n)
	}
	text = chartVersion.ReplaceAll(text, []byte("$1: "+r.version))
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	return create(filepath.Join(r.out, "troupe-"+r.version+".tgz"), func(w io.Writer) error { return writeTarGz(w, os.DirFS(dir), "troupe", r.date) })
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Measurement is the content of a file in bench/history.
type Measurement struct {
	Commit  string    `json:"commit"`
	Date    time.Time `json:"date"` // of the commit
	Subject string    `json:"subject"`
	Base    string    `json:"base"`
	Rows    []Row     `json:"rows"`
}

const (
	historyDir = "../bench/history"
	plotFile   = "../docs/history.svg"
)

func record(ctx context.Context, tree, commit string, rows []Row) error {
	m := Measurement{Commit: commit, Base: lastRelease, Rows: rows}
	date, err := git(ctx, tree, "show", "-s", "--format=%cI")
	if err == nil {
		m.Date, err = time.Parse(time.RFC3339, date)
	}
	if err == nil {
		m.Subject, err = git(ctx, tree, "show", "-s", "--format=%s")
	}
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(historyDir, commit+".json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	all, err := history(historyDir)
	if err != nil {
		return err
	}
	return os.WriteFile(plotFile, plot(all), 0o644)
}

// history reads all measurements in a directory, from the oldest commit to the newest.
func history(dir string) ([]Measurement, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []Measurement
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var m Measurement
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Measurement) int { return a.Date.Compare(b.Date) })
	return all, nil
}

// The plot has a panel per workload, with a line per media type and number of clients.
const (
	columns                 = 3
	panelWidth, panelHeight = 300, 150
	margin                  = 30
	lowest, highest         = 0.4, 1.4 // ratios
)

var colors = []string{"#1b6ca8", "#d1495b", "#2a9d8f", "#e9a23b", "#7b5ea7", "#555555"}

func plot(all []Measurement) []byte {
	panels := map[string]map[string][]float64{} // ratios per measurement by workload and variant; 0 if missing
	for i, m := range all {
		for _, r := range m.Rows {
			workload, variant, _ := strings.Cut(r.Name, " ")
			if panels[workload] == nil {
				panels[workload] = map[string][]float64{}
			}
			if panels[workload][variant] == nil {
				panels[workload][variant] = make([]float64, len(all))
			}
			panels[workload][variant][i] = r.Ratio
		}
	}
	names := slices.Sorted(maps.Keys(panels))
	var b bytes.Buffer
	lines := (len(names) + columns - 1) / columns
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+"\n", columns*panelWidth, lines*panelHeight)
	for i, name := range names {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", i%columns*panelWidth, i/columns*panelHeight)
		panel(&b, name, panels[name], all)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// panel draws the panel of one workload, with the ratio to the last release for each measured
// commit.
func panel(b *bytes.Buffer, name string, variants map[string][]float64, all []Measurement) {
	x := func(i int) float64 {
		return margin + float64(i)*(panelWidth-2*margin)/float64(max(1, len(all)-1))
	}
	y := func(ratio float64) float64 {
		ratio = min(max(ratio, lowest), highest)
		return margin + (highest-ratio)/(highest-lowest)*(panelHeight-2*margin)
	}
	fmt.Fprintf(b, `<text x="%d" y="14" font-weight="bold">%s</text>`+"\n", margin, name)
	for _, ratio := range []float64{0.5, 1} {
		fmt.Fprintf(b, `<path d="M%d %.1fH%d" stroke="#ccc"/><text x="2" y="%.1f">%.1f</text>`+"\n", margin, y(ratio), panelWidth-margin, y(ratio)+4, ratio)
	}
	for i, m := range all {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" font-size="7" text-anchor="middle">%s</text>`+"\n", x(i), panelHeight-margin/2, m.Commit)
	}
	for i, variant := range slices.Sorted(maps.Keys(variants)) {
		color, points := colors[i%len(colors)], []string{}
		for at, ratio := range variants[variant] {
			if ratio > 0 {
				points = append(points, fmt.Sprintf("%.1f,%.1f", x(at), y(ratio)))
			}
		}
		fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s"><title>%s %s</title></polyline>`+"\n", strings.Join(points, " "), color, name, variant)
		fmt.Fprintf(b, `<text x="%d" y="14" fill="%s" font-size="8">%s</text>`+"\n", margin+90+i*33, color, strings.Replace(variant, "protobuf", "pb", 1))
	}
}

package report

import (
	"fmt"
	"math"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// Aim is what a row is measured against: the most that its CPU per operation, in microseconds, may be, or
// its figure. In a saved report it stands as it was when the row was measured.
type Aim struct {
	Most   float64 `json:"most"`
	Unit   string  `json:"unit"`
	figure bool    // about the figure, not about CPU
}

// String is the aim as the table shows it.
func (a *Aim) String() string {
	return fmt.Sprintf("≤ %s %s", measure.Short(a.Most), a.Unit)
}

// aims are those of the performance goals, by row, for the sizes that they are given for: with other sizes
// a row has no aim.
func aims(o *scenario.Options) map[string]*Aim {
	all := map[string]*Aim{
		"durable-create":    figureAim(0.3, "ms above a sync"),
		"idle":              figureAim(30, "MiB resident"),
		"idle-watchers":     figureAim(30, "KiB per watcher"),
		"cold start, empty": figureAim(50, "ms"),
		"memory, empty":     figureAim(30, "MiB resident"),
		"custom-resource":   figureAim(0, "requests refused"),
	}
	if o.Scale == 1 && o.Duration >= scenario.SoakLimit {
		all["soak"] = figureAim(0, "quantities grow")
	}
	if o.Scale == 1 {
		for _, verb := range []string{"create", "update", "patch", "delete", "get"} {
			all["cluster, "+verb] = figureAim(1_000, "ms p99")
		}
		all["cluster, list, a namespace"] = figureAim(5_000, "ms p99")
		all["cluster, list, all"] = figureAim(30_000, "ms p99")
		all["garbage"] = figureAim(3, "s until all had gone")
		all["noisy"] = figureAim(2, "× the p99 without it")
		all["namespace"] = figureAim(3, "s until all had gone")
		all["namespaces"] = figureAim(20, "s until all had gone")
		all["selector, indexed field"] = figureAim(5, "ms")
		all["selector, other field"] = figureAim(60, "ms")
		all["selector, label"] = figureAim(60, "ms")
	}
	if o.Size != scenario.StandardSize {
		return all
	}
	all["get-protobuf"] = cpuAim(22)
	all["create-protobuf"] = cpuAim(60)
	all["update-protobuf"] = cpuAim(70)
	all["merge-patch-protobuf"] = cpuAim(70)
	all["apply-protobuf"] = cpuAim(90)
	all["delete-protobuf"] = cpuAim(45)
	all["get-cbor"] = cpuAim(22)
	all["get"] = cpuAim(20)
	all["create"] = cpuAim(60)
	all["update"] = cpuAim(70)
	all["merge-patch"] = cpuAim(70)
	all["apply"] = cpuAim(90)
	all["apply-pod"] = cpuAim(150)
	all["apply-pod, unchanged"] = cpuAim(60)
	all["apply-pod, repeated"] = cpuAim(60)
	all["delete"] = cpuAim(45)
	if o.Objects == scenario.StandardObjects {
		all["list"] = cpuAim(6_500)
		all["list-chunked"] = cpuAim(9_000)
		all["list-protobuf"] = cpuAim(7_150)
		all["list-cbor"] = cpuAim(25_000)
	}
	if o.Watchers == scenario.StandardWatchers {
		all["watch-fanout"] = cpuAim(6)
		all["watch-fanout-protobuf"] = cpuAim(6)
		all["watch-fanout-protobuf, bursts"] = cpuAim(2)
		all["watch-fanout, bursts"] = cpuAim(2)
	}
	if o.ColdObjects == scenario.StandardColdObjects {
		all["cold start, full"] = figureAim(500, "ms")
		all["memory, full"] = figureAim(130, "MiB resident")
	}
	return all
}

// cpuAim is an aim for the CPU time of one operation.
func cpuAim(most float64) *Aim {
	return &Aim{Most: most, Unit: "µs CPU"}
}

// figureAim is an aim for what a row is about besides CPU time.
func figureAim(most float64, unit string) *Aim {
	return &Aim{Most: most, Unit: unit, figure: true}
}

// met tells whether a row reaches its aim; nil if that was not measured or the row has errors only. A row
// with errors may still meet its aim: errors fail the run in another way.
func (a *Aim) met(r *Row) *bool {
	value := math.NaN()
	switch {
	case a.figure && r.Figure != nil:
		value = r.Figure.Value
	case !a.figure && r.CPU != nil:
		value = *r.CPU
	}
	if math.IsNaN(value) {
		return nil
	}
	met := value <= a.Most
	return &met
}

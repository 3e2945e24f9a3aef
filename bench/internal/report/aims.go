package report

import (
	"fmt"
	"math"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// Aim is what a row is measured against: the most that its CPU per operation may be, as a multiple of that of the floor of
// the same run, or its figure. Machines differ by more than two builds do, so no aim is in microseconds of CPU.
// In a saved report it stands as it was when the row was measured.
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
	for _, form := range []string{"", "-protobuf"} {
		all["create"+form] = floorAim(3.3)
		all["update"+form] = floorAim(4)
		all["merge-patch"+form] = floorAim(4)
		all["apply"+form] = floorAim(5)
		all["delete"+form] = floorAim(3.4)
		// 120 µs, and 50 where nothing changes, on a machine where a floor of 1 KiB costs 18.
		all["apply-pod"+form] = floorAim(6.7)
		all["apply-pod"+form+", unchanged"] = floorAim(2.8)
		all["apply-pod"+form+", repeated"] = floorAim(2.8)
	}
	// Another form may cost a tenth more than JSON.
	all["get"] = floorAim(1.1)
	all["get-protobuf"] = floorAim(1.21)
	all["get-cbor"] = floorAim(1.21)
	if o.Objects == scenario.StandardObjects {
		all["list"] = floorAim(1.3)
		all["list-protobuf"] = floorAim(1.43)
		all["list-chunked"] = floorAim(1.5)
		all["list-chunked-protobuf"] = floorAim(1.65)
		all["list-cbor"] = floorAim(5)
	}
	if o.Watchers == scenario.StandardWatchers {
		for _, form := range []string{"", "-protobuf"} {
			all["watch-fanout"+form] = floorAim(1.3)
			all["watch-fanout"+form+", bursts"] = floorAim(0.4)
		}
	}
	if o.ColdObjects == scenario.StandardColdObjects {
		all["cold start, full"] = figureAim(500, "ms")
		all["memory, full"] = figureAim(130, "MiB resident")
	}
	return all
}

// floorAim is an aim for the CPU time of one operation.
func floorAim(most float64) *Aim {
	return &Aim{Most: most, Unit: "× floor"}
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
	case !a.figure && r.ToFloor != nil:
		value = *r.ToFloor
	}
	if math.IsNaN(value) {
		return nil
	}
	met := value <= a.Most
	return &met
}

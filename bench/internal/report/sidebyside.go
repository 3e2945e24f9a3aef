package report

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// A leastAdvantage is how many times less CPU time than kube-apiserver with etcd a workload is to need.
type leastAdvantage struct{ json, protobuf float64 }

// advantages are the aims of the workloads that have one.
var advantages = map[string]leastAdvantage{
	"get": {25, 25}, "create": {20, 20}, "update": {20, 20}, "merge-patch": {20, 20}, "apply": {20, 20}, "apply-pod": {20, 20},
	"delete": {20, 20}, "list": {12, 8}, "list-chunked": {12, 8}, "watch-fanout": {6, 6}, "watch-fanout, bursts": {6, 6},
}

// advantageAim is the aim of a row; 0 if it has none.
func advantageAim(name string) float64 {
	if plain := strings.Replace(name, "-protobuf", "", 1); plain != name {
		return advantages[plain].protobuf
	}
	return advantages[name].json
}

// WriteSideBySide puts the CPU time of both servers of some reports between the marks of a Markdown file: what the first one
// needs, what the second one needs, and how many times less the first is. Rows without both are left out;
// where several reports have a row, the last one counts.
func WriteSideBySide(path string, reports []*Report) error {
	var b strings.Builder
	for _, r := range reports {
		if r.Origin != nil {
			b.WriteString(r.Origin.Line())
		}
	}
	b.WriteString("\n| Workload | CPU time | of the second server | times less | aim | × floor |\n|---|---|---|---|---|---|\n")
	rows := make(map[string]*Row)
	var names []string
	for _, r := range reports {
		for _, row := range r.Rows {
			if rows[row.Title()] == nil && row.Target == "" {
				names = append(names, row.Name)
			}
			rows[row.Title()] = row
		}
	}
	for _, name := range names {
		row, other := rows[name], rows[name+" ("+NameAgainst+")"]
		if row.CPU == nil || row.ToAgainst == nil || other == nil || other.CPU == nil {
			continue
		}
		// Of several runs it is the median of the ratios: both servers of a run had the same conditions.
		advantage, aim := 1 / *row.ToAgainst, blank
		switch least := advantageAim(name); {
		case least > 0 && advantage >= least:
			aim = fmt.Sprintf("≥ %g", least)
		case least > 0:
			aim = fmt.Sprintf("≥ %g, **missed**", least)
		}
		_, _ = fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %s | %s |\n", name, measure.Span(*row.CPU), measure.Span(*other.CPU), advantage, aim, times(row.ToFloor))
	}
	return ReplaceSection(path, "side by side", b.String())
}

package report

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
)

// What stands around an explanation that is written by hand. In between everything is kept. They are
// comments of HTML, which Markdown does not show.
const (
	explanationBegin = "<!-- explanation: %s -->"
	explanationEnd   = "<!-- end -->"
	unexplained      = "Not explained yet."
)

// aimedRows are the rows with an aim, in the order of the table, with the workload that measures each.
// Several rows may come from one workload.
var aimedRows = []struct{ row, workload, what string }{
	{"get", "get", "get, 1 KiB object"},
	{"create", "create", "create"},
	{"update", "update", "update (PUT)"},
	{"merge-patch", "merge-patch", "merge patch"},
	{"apply", "apply", "server-side apply"},
	{"apply-pod", "apply-pod", "server-side apply of a 2 KiB Pod, three managers"},
	{"apply-pod, unchanged", "apply-pod", "the same, unchanged, in ever other text"},
	{"apply-pod, repeated", "apply-pod", "the same, unchanged, in the same text"},
	{"delete", "delete", "delete"},
	{"list", "list", "list 5,000 objects (7 MiB)"},
	{"list-chunked", "list-chunked", "list the same in chunks of 500"},
	{"get-protobuf", "get-protobuf", "get, in Protobuf"},
	{"create-protobuf", "create-protobuf", "create, in Protobuf"},
	{"update-protobuf", "update-protobuf", "update, in Protobuf"},
	{"merge-patch-protobuf", "merge-patch-protobuf", "merge patch, answered in Protobuf"},
	{"apply-protobuf", "apply-protobuf", "server-side apply, answered in Protobuf"},
	{"delete-protobuf", "delete-protobuf", "delete, answered in Protobuf"},
	{"apply-pod-protobuf", "apply-pod-protobuf", "server-side apply of a 2 KiB Pod, three managers, answered in Protobuf"},
	{"apply-pod-protobuf, unchanged", "apply-pod-protobuf", "the same, unchanged, in ever other text"},
	{"apply-pod-protobuf, repeated", "apply-pod-protobuf", "the same, unchanged, in the same text"},
	{"list-protobuf", "list-protobuf", "list 5,000 objects, in Protobuf"},
	{"list-chunked-protobuf", "list-chunked-protobuf", "list the same in chunks of 500, in Protobuf"},
	{"get-cbor", "get-cbor", "get, in CBOR"},
	{"list-cbor", "list-cbor", "list 5,000 objects, in CBOR"},
	{"watch-fanout", "watch-fanout", "watch: one event to one of 200 watchers"},
	{"watch-fanout, bursts", "watch-fanout", "the same when events queue up"},
	{"watch-fanout-protobuf", "watch-fanout-protobuf", "watch: one event to one of 200 watchers, in Protobuf"},
	{"watch-fanout-protobuf, bursts", "watch-fanout-protobuf", "the same when events queue up"},
	{"cold start, empty", "cold-start", "start to first successful request, empty store"},
	{"cold start, full", "cold-start", "the same with 50,000 objects after kill -9"},
	{"idle", "idle-watchers", "resident memory, idle, of the server measured"},
	{"memory, empty", "cold-start", "resident memory, idle, empty"},
	{"memory, full", "cold-start", "resident memory with 50,000 objects"},
	{"idle-watchers", "idle-watchers", "memory per idle watch connection (TLS)"},
	{"selector, indexed field", "selector", "list that selects nothing of 300,000 objects, indexed field"},
	{"selector, other field", "selector", "the same, other field"},
	{"selector, label", "selector", "the same, label"},
	{"custom-resource", "custom-resource", "requests for a new kind refused after its definition was acknowledged"},
	{"garbage", "garbage", "an object deleted that owns 10,000 over three levels, until all have gone"},
	{"namespace", "namespace", "a namespace with 10,000 objects deleted, until it has gone"},
	{"namespaces", "namespaces", "2,000 namespaces deleted, until all have gone"},
	{"noisy", "noisy", "99 clients beside one that asks for all it can get, against without it"},
	{"cluster, create", "cluster", "a cluster of 1,000 nodes and 200 changes of Pods a second: creates, as the service levels of Kubernetes ask"},
	{"cluster, update", "cluster", "the same, updates"},
	{"cluster, patch", "cluster", "the same, patches"},
	{"cluster, delete", "cluster", "the same, deletes"},
	{"cluster, get", "cluster", "the same, reads of one Pod"},
	{"cluster, list, a namespace", "cluster", "the same, lists of the 30,000 Pods of a namespace"},
	{"cluster, list, all", "cluster", "the same, lists of all Pods"},
	{"soak", "soak --duration 30m", "quantities that have grown after 30 minutes of mixed load"},
	{"durable-create", "durable-create", "durable create, one client, above one sync"},
}

// WriteResults writes the table of aims with what the reports measured. Where several have a row, the last
// one counts. Explanations that stand in the file are kept for rows that are missed or were not measured.
// The page is written anew as a whole, so that no old figure stays beside a new one.
func WriteResults(path string, reports []*Report) error {
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(path, results(reports, explanations(string(before))), 0o644)
}

// It takes the same text for the same reports, so a page changes only where figures do.
func results(reports []*Report, explained map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("# Results\n\nWritten by `bench --results`; by hand are only the explanations between their marks, which it keeps.\n" +
		"[README.md](README.md) says how to read the figures, [performance](../docs/performance.md) what they come from.\n\n")
	for _, r := range reports {
		if o := r.Origin; o != nil {
			_, _ = fmt.Fprintf(&b, "- %s, commit %s, on %s%s:\n  `%s`\n", o.Began.Format("2006-01-02 15:04 MST"), o.Commit, o.Machine, r.runsText(), o.Command)
		}
	}
	rows := make(map[string]*Row)
	for _, r := range reports {
		for title, row := range byTitle(r) {
			rows[title] = row
		}
	}
	writeAims(&b, rows)
	writeExplanations(&b, rows, explained)
	writeRows(&b, reports, rows)
	return b.Bytes()
}

// runsText says of how many runs the medians are; empty for one run. A reader has to know whether
// parentheses hold a spread.
func (r *Report) runsText() string {
	if r.Options.Runs < 2 {
		return ""
	}
	return fmt.Sprintf(", medians of %d runs, in parentheses the lowest and the highest", r.Options.Runs)
}

// writeAims is one line for every aim, measured or not. An aim that was not measured is listed too: leaving
// it out would look like success. Rows of other sizes are shown without a verdict. Each line names the
// command that measures it again.
func writeAims(b *bytes.Buffer, rows map[string]*Row) {
	b.WriteString("\n## Aims\n\n| What | Aim | Measured | × floor | Met | Measured by |\n|---|---|---|---|---|---|\n")
	all := aims(standardOptions())
	for _, a := range aimedRows {
		measured, met, floor := "not measured", blank, blank
		if row := rows[a.row]; row != nil {
			measured, floor = row.measured(all[a.row]), times(row.ToFloor)
			if row.Aim == nil {
				measured += ", at other sizes"
			} else if reached := all[a.row].met(row); reached != nil { // by the aims of today, whenever it was measured
				met = yesNo(*reached)
			}
		}
		_, _ = fmt.Fprintf(b, "| %s | %s | %s | %s | %s | `--workloads %s` |\n", a.what, all[a.row], measured, floor, met, a.workload)
	}
}

// headlineRows are the rows that stand in the few figures of a first page. They are few on purpose: the
// rest is on the page of results.
var headlineRows = []string{"get", "create", "update", "merge-patch", "apply", "delete", "list", "watch-fanout", "watch-fanout, bursts",
	"cold start, empty", "cold start, full", "memory, empty", "memory, full"}

// WriteHeadlines puts the few figures between the marks of a Markdown file. It replaces what is between the
// marks; the page around them is written by hand.
func WriteHeadlines(path string, reports []*Report) error {
	var b strings.Builder
	rows := make(map[string]*Row)
	for _, r := range reports {
		maps.Copy(rows, byTitle(r))
		if r.Origin != nil {
			line := fmt.Sprintf("%s, commit %s, on %s%s.\n", r.Origin.Began.Format("2006-01-02"), r.Origin.Commit, r.Origin.Machine, r.runsText())
			if !strings.Contains(b.String(), line) { // one of several runs of a build
				b.WriteString(line)
			}
		}
	}
	b.WriteString("\n| | measured | × floor |\n|---|---|---|\n")
	all := aims(standardOptions())
	for _, a := range aimedRows {
		if row := rows[a.row]; row != nil && slices.Contains(headlineRows, a.row) {
			_, _ = fmt.Fprintf(&b, "| %s | %s | %s |\n", a.what, row.measured(all[a.row]), times(row.ToFloor))
		}
	}
	return ReplaceSection(path, "figures", b.String())
}

// standardOptions are the options that all aims are given for. The column of aims is made from them, so it
// stays the same whatever was measured.
func standardOptions() *scenario.Options {
	return &scenario.Options{Scale: 1, Duration: scenario.SoakLimit, Size: scenario.StandardSize, Objects: scenario.StandardObjects, ColdObjects: scenario.StandardColdObjects, Watchers: scenario.StandardWatchers}
}

// measured is what the row has beside the aim. A server without a known process shows its latency, which is
// better than nothing.
func (row *Row) measured(a *Aim) string {
	switch {
	case a.figure && row.Figure != nil:
		return FigureCell(row.Figure) + row.spreadText(measure.Short)
	case !a.figure && row.CPU != nil:
		return measure.Span(*row.CPU) + " CPU" + row.spreadText(measure.Span)
	case row.P50 > 0:
		return measure.Span(row.P50) + " (median; CPU time not known)"
	}
	return blank
}

// What is missed is bold, to be found at a glance.
func yesNo(met bool) string {
	if met {
		return "yes"
	}
	return "**no**"
}

// writeExplanations is a section for every row that is missed, and for those with an explanation that were
// not measured this time. An explanation of a row that now meets its aim is dropped, as it explains nothing
// any more.
func writeExplanations(b *bytes.Buffer, rows map[string]*Row, explained map[string]string) {
	b.WriteString("\n## What is missed, and why\n")
	none, all := true, aims(standardOptions())
	for _, a := range aimedRows {
		row, text := rows[a.row], explained[a.row]
		var reached *bool
		if row != nil && row.Aim != nil {
			reached = all[a.row].met(row)
		}
		missed, unknown := reached != nil && !*reached, reached == nil
		if !missed && (!unknown || text == "") {
			continue
		}
		none = false
		if text == "" {
			text = unexplained
		}
		_, _ = fmt.Fprintf(b, "\n### %s\n"+explanationBegin+"\n%s\n%s\n", a.row, a.row, text, explanationEnd)
	}
	if none {
		b.WriteString("\nNothing.\n")
	}
}

// explanations finds what was written by hand, by row. The text that stands in for a missing one is no
// explanation.
func explanations(text string) map[string]string {
	found := make(map[string]string)
	for _, a := range aimedRows {
		_, after, begins := strings.Cut(text, fmt.Sprintf(explanationBegin, a.row))
		inner, _, ends := strings.Cut(after, explanationEnd)
		if inner = strings.TrimSpace(inner); begins && ends && inner != unexplained {
			found[a.row] = inner
		}
	}
	return found
}

// writeRows is everything that was measured, and what the harness had to say about it. Remarks say what was
// measured at another size, without which a figure would mislead. The columns of aims are left out here,
// since they have a table of their own.
func writeRows(b *bytes.Buffer, reports []*Report, rows map[string]*Row) {
	b.WriteString("\n## Everything measured\n\n| Workload | rate/s | p50 | p99 | CPU/op | RSS MiB | errors | figure | × floor | × against |\n|---|---|---|---|---|---|---|---|---|---|\n")
	var remarks []string
	for _, r := range reports {
		for _, row := range r.Rows {
			if rows[row.Title()] != row {
				continue // a later report has it
			}
			cells := row.cells()
			const aim, met = 8, 9
			cells = append(append(cells[:aim:aim], cells[met+1:]...), times(row.ToAgainst))
			_, _ = fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
		remarks = append(remarks, r.Notes...)
	}
	if len(remarks) > 0 {
		b.WriteString("\nRemarks of the harness:\n")
	}
	for _, remark := range remarks {
		_, _ = fmt.Fprintf(b, "- %s\n", remark)
	}
}

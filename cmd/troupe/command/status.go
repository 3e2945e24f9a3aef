package command

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/cmd/troupe/internal/rewrites"
)

type statusOptions struct {
	Kubeconfig string
	Interval   time.Duration
	Top        int
	Hot        bool
	Output     string
}

func (o *statusOptions) run(c *cobra.Command, _ []string) error {
	r, err := loadDaemonClient(c, o.Kubeconfig)
	if err != nil {
		return err
	}
	switch {
	case o.Output != "" && o.Output != "json":
		return fmt.Errorf("--output %q: must be json", o.Output)
	case o.Output != "" && !o.Hot:
		return errors.New("--output json requires --hot; without it, read /metrics")
	case o.Hot:
		return r.hot(c.Context(), c.OutOrStdout(), o.Top, o.Output)
	}
	return r.status(c.Context(), c.OutOrStdout(), o.Interval, o.Top)
}

func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// hot prints the objects that controllers write repeatedly.
func (r *daemonClient) hot(ctx context.Context, w io.Writer, top int, output string) error {
	body, err := r.get(ctx, daemon.HotPath)
	if err != nil {
		return err
	}
	defer body.Close()
	if output == "json" {
		_, err := io.Copy(w, body)
		return err
	}
	var hot daemon.Hot
	if err := json.NewDecoder(body).Decode(&hot); err != nil {
		return fmt.Errorf("%s%s: %w", r.Server(), daemon.HotPath, err)
	}
	if len(hot.Objects) == 0 {
		_, err := fmt.Fprintln(w, "No object is rewritten repeatedly.")
		return err
	}
	t := newTable(w)
	fmt.Fprintln(t, "OBJECT\tUPDATES\tMANAGER\tFIELD\tREVERTED\tVALUE")
	if top > 0 {
		hot.Objects = hot.Objects[:min(top, len(hot.Objects))]
	}
	for _, o := range hot.Objects {
		for _, m := range slices.Sorted(maps.Keys(o.Managers)) {
			fmt.Fprintf(t, "%s\t%d\t%s\t\t\t\n", &o, o.Managers[m], rewrites.ManagerName(m))
		}
		for _, f := range o.Fields {
			for _, v := range f.Values {
				fmt.Fprintf(t, "%s\t\t%s\t%s\t%d\t%s\n", &o, rewrites.ManagerName(v.Manager), f.Path, f.Reverted, cmp.Or(v.Value, "(removed)"))
			}
		}
	}
	return t.Flush()
}

// status compares two scrapes taken at the given interval. A single scrape is not enough, because
// only differences between counters are meaningful.
func (r *daemonClient) status(ctx context.Context, w io.Writer, interval time.Duration, top int) error {
	before, err := r.scrape(ctx)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(interval):
	}
	after, err := r.scrape(ctx)
	if err != nil {
		return err
	}
	p := statusReport{server: r.Server(), before: before, after: after}
	if err := p.summary(w); err != nil {
		return err
	}
	return p.collections(w, top)
}

// A statusReport compares two scrapes of a daemon. Rates use the actual scrape times, because the
// requests themselves take time.
type statusReport struct {
	server        string
	before, after *scrape
}

func (p *statusReport) rate(name string, pattern ...string) float64 {
	return ratio(p.after.sum(name, pattern...)-p.before.sum(name, pattern...), p.after.at.Sub(p.before.at).Seconds())
}

// mean returns the mean duration between two scrapes: the increase of a counter in seconds divided
// by the increase of another counter. If the daemon was idle, it returns the mean since startup.
func (p *statusReport) mean(seconds, count string) float64 {
	if n := p.after.value(count) - p.before.value(count); n > 0 {
		return (p.after.value(seconds) - p.before.value(seconds)) / n
	}
	return ratio(p.after.value(seconds), p.after.value(count))
}

func ratio(amount, by float64) float64 {
	if by == 0 {
		return 0
	}
	return amount / by
}

//go:embed status.txt
var summary string

func (p *statusReport) summary(w io.Writer) error {
	t := newTable(w)
	fmt.Fprint(t, p.after.fill(summary, template.FuncMap{
		"rate": p.rate, "mean": p.mean, "slowest": p.slowest, "server": func() string { return p.server },
		"uptime": func() string {
			return time.Duration(p.after.value("troupe_uptime_seconds") * 1e9).Truncate(time.Second).String()
		},
	}))
	return t.Flush()
}

func (p *statusReport) slowest() string {
	const most = 3
	names := p.after.resources("troupe_turn_seconds_max")
	longest := func(name string) float64 { return p.after.resourceValue("troupe_turn_seconds_max", name) }
	names = slices.DeleteFunc(names, func(name string) bool { return longest(name) == 0 })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(longest(b), longest(a)), strings.Compare(a, b)) })
	var texts []string
	for _, name := range names[:min(most, len(names))] {
		texts = append(texts, short(longest(name))+" for one of "+name)
	}
	return cmp.Or(strings.Join(texts, ", "), "nothing was changed")
}

type row struct {
	resource                                            string
	objects, watches, history, mutations, mean, longest float64
}

// collections prints the top collections, sorted by write rate, then object count, then name. It
// skips collections that have no objects, watches or history.
func (p *statusReport) collections(w io.Writer, top int) error {
	rows := p.rows()
	hidden := 0
	if top > 0 && len(rows) > top {
		hidden, rows = len(rows)-top, rows[:top]
	}
	if err := writeRows(w, rows); err != nil || hidden == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d more\n", hidden)
	return err
}

func (p *statusReport) rows() (rows []row) {
	for _, name := range p.after.resources("troupe_objects") {
		a, b := p.after, p.before
		r := row{
			resource: name, objects: a.resourceValue("troupe_objects", name), watches: a.resourceValue("troupe_collection_watchers", name),
			history: a.resourceValue("troupe_history_bytes", name), longest: a.resourceValue("troupe_turn_seconds_max", name),
			mutations: ratio(a.resourceValue("troupe_turns_total", name)-b.resourceValue("troupe_turns_total", name), a.at.Sub(b.at).Seconds()),
			mean:      p.mean(series("troupe_turn_seconds_total", name), series("troupe_turns_total", name)),
		}
		if r.objects+r.watches+r.history > 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.mutations, a.mutations), cmp.Compare(b.objects, a.objects), strings.Compare(a.resource, b.resource))
	})
	return rows
}

const collectionHead = "COLLECTION"

func writeRows(w io.Writer, rows []row) error {
	t := newTable(w)
	fmt.Fprintln(t, "\n"+collectionHead+"\tOBJECTS\tWATCHES\tHISTORY\tWRITES/S\tMEAN\tLONGEST")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%s\t%s\n", r.resource, count(r.objects), count(r.watches), size(r.history), r.mutations, short(r.mean), short(r.longest))
	}
	return t.Flush()
}

func count(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// size formats a number of bytes in the largest suitable unit, such as 512 B, 1.5 KiB or 100 MiB.
func size(v float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	n := 0
	for ; v >= 1024 && n < len(units)-1; n++ {
		v /= 1024
	}
	if n == 0 || v >= 100 {
		return fmt.Sprintf("%.0f %s", v, units[n])
	}
	return fmt.Sprintf("%.1f %s", v, units[n])
}

// short formats seconds with about three significant digits, such as 12.3µs, 1.25ms or 2.5s.
func short(seconds float64) string {
	d := time.Duration(seconds * 1e9)
	switch {
	case d < time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

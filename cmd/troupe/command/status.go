package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// status returns the command that summarizes a running daemon. It needs only the permission to read
// /metrics.
func status() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the activity of a running server",
		Long: `Show the activity of the running server of --kubeconfig, KUBECONFIG or troupe-data: objects,
watches, commits, syncs, disk and memory, and the busiest and slowest collections. Rates and
durations are measured over --interval; a duration without a sample is the mean since the
start. All figures come from /metrics, described in docs/operations.md.`,
		Args: cobra.NoArgs,
	}
	kubeconfig := kubeconfigFlag(c)
	interval := c.Flags().Duration("interval", time.Second, "Interval over which rates are measured.")
	top := c.Flags().Int("top", 10, "Maximum number of collections to show; 0 shows all.")
	c.RunE = func(c *cobra.Command, _ []string) error {
		r, err := loadDaemonClient(*kubeconfig)
		if err != nil {
			return err
		}
		return r.status(c.Context(), c.OutOrStdout(), *interval, *top)
	}
	return c
}

// status takes two scrapes, interval apart, because counters are only meaningful as differences.
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
	p := statusReport{server: r.URL(), before: before, after: after}
	if err := p.summary(w); err != nil {
		return err
	}
	return p.collections(w, top)
}

// A statusReport compares two scrapes of a daemon. Rates use the scrapes' timestamps, because
// requests take time too.
type statusReport struct {
	server        string
	before, after *scrape
}

// rate returns the increase of a counter per second.
func (p *statusReport) rate(name string) float64 {
	return ratio(p.after.value(name)-p.before.value(name), p.after.at.Sub(p.before.at).Seconds())
}

// rateOf is like rate for the sum of series whose labels match a pattern.
func (p *statusReport) rateOf(name, pattern string) float64 {
	return ratio(p.after.sum(name, pattern)-p.before.sum(name, pattern), p.after.at.Sub(p.before.at).Seconds())
}

// mean returns the recent mean in seconds per unit of a counter; for an idle daemon, the mean since
// the start.
func (p *statusReport) mean(seconds, count string) float64 {
	if n := p.after.value(count) - p.before.value(count); n > 0 {
		return (p.after.value(seconds) - p.before.value(seconds)) / n
	}
	return ratio(p.after.value(seconds), p.after.value(count))
}

// ratio returns amount/by, or 0 if by is 0.
func ratio(amount, by float64) float64 {
	if by == 0 {
		return 0
	}
	return amount / by
}

// The lines are for people and may change; scripts should read /metrics.
func (p *statusReport) summary(w io.Writer) error {
	a := p.after
	objects := a.sum("troupe_objects", "")
	lines := [][2]string{
		{"server", fmt.Sprintf("%s  troupe %s  naming %s  up %s", p.server, a.label("troupe_info", "version"), a.label("troupe_info", "naming"),
			time.Duration(a.value("troupe_uptime_seconds")*1e9).Truncate(time.Second))},
		{"objects", fmt.Sprintf("%s in %d collections  at version %s", count(objects), len(a.resources("troupe_objects")), count(a.value("troupe_resource_version")))},
		{"requests", fmt.Sprintf("%.0f/s  at work on %s reads, %s writes  refused as too many %.0f/s  failed %.0f/s", p.rateOf("apiserver_request_total", ""),
			count(a.sum("apiserver_current_inflight_requests", `"readOnly"`)), count(a.sum("apiserver_current_inflight_requests", `"mutating"`)),
			p.rateOf("apiserver_request_total", `code="429"`), p.rateOf("apiserver_request_total", `code="5`))},
		{"watches", fmt.Sprintf("%s open  %.0f events/s", count(a.value("troupe_watchers")), p.rate("troupe_watch_events_total"))},
		{"commits", fmt.Sprintf("%.0f/s in %.0f batches/s (%.1f a batch, most %s)  waiting %s", p.rate("troupe_commits_total"), p.rate("troupe_commit_batches_total"),
			ratio(p.rate("troupe_commits_total"), p.rate("troupe_commit_batches_total")), count(a.value("troupe_commit_batch_size_max")), count(a.value("troupe_commit_queue_depth")))},
		{"sync", fmt.Sprintf("%s each  batch %s each", short(p.mean("troupe_journal_sync_seconds_total", "troupe_journal_sync_total")),
			short(p.mean("troupe_commit_seconds_total", "troupe_commit_batches_total")))},
		{"disk", fmt.Sprintf("journal %s in %s files  snapshots %s, %s failed", size(a.value("troupe_journal_bytes")), count(a.value("troupe_journal_segments")),
			size(a.value("troupe_snapshot_bytes")), count(a.value("troupe_snapshot_failures_total"))) + p.diskFullNote()},
		{"memory", fmt.Sprintf("%s resident  history %s  %s goroutines  %s of %s files open", size(a.value("process_resident_memory_bytes")),
			size(a.sum("troupe_history_bytes", "")), count(a.value("go_goroutines")), count(a.value("process_open_fds")), count(a.value("process_max_fds")))},
		{"actors", fmt.Sprintf("%s awake  waiting messages %s  panics %s  restarts %s", count(a.value("troupe_object_actors")), count(a.value("troupe_mailbox_depth")),
			count(a.value("troupe_actor_panics_total")), count(a.value("troupe_actor_restarts_total")))},
		{"slowest", p.slowest()},
	}
	if n := a.value("troupe_unreadable_objects"); n > 0 {
		lines = append(lines, [2]string{"unreadable", count(n) + " unreadable objects are set aside until they are deleted:"})
		for _, name := range a.objects("troupe_unreadable_object") {
			lines = append(lines, [2]string{"", name})
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	return t.Flush()
}

func (p *statusReport) diskFullNote() string {
	if p.after.value("troupe_disk_full") == 0 {
		return ""
	}
	return "  FULL: only deletes are accepted"
}

// slowest returns the collections with the longest mutations since the daemon's start.
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

// A row describes one collection.
type row struct {
	resource                                            string
	objects, watches, history, mutations, mean, longest float64
}

// collections writes the busiest collections, then the largest. It skips collections without
// objects, watches and history. The order is total, so that output is stable.
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
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\n"+collectionHead+"\tOBJECTS\tWATCHES\tHISTORY\tWRITES/S\tMEAN\tLONGEST")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%s\t%s\n", r.resource, count(r.objects), count(r.watches), size(r.history), r.mutations, short(r.mean), short(r.longest))
	}
	return t.Flush()
}

// count formats an integer with thousands separators, such as 1,234,567.
func count(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// size formats a number of bytes in the largest fitting unit, such as 512 B, 1.5 KiB or 100 MiB.
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

// short formats seconds with about three digits, such as 12.3µs, 1.25ms or 2.5s.
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

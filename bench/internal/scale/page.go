package scale

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/report"
)

// What the page tells of.
var (
	pageObjects = []float64{1e6, 1e7, 1e8}
	pageRates   = []float64{1_000, 10_000}
	pageWatches = []float64{100, 1_000, 10_000}
)

// setups are those of the page.
func (p Parameters) setups() []Setup {
	all := []Setup{
		{Name: "one daemon, on its disk", Daemons: 1},
		{Name: "three daemons, one etcd", Daemons: 3, Etcds: 1},
		{Name: "three daemons, four etcds", Daemons: 3, Etcds: 4},
		{Name: "four etcds, three daemons each", Daemons: 3, Etcds: 4, Apart: true},
	}
	for i := range all {
		s := &all[i]
		s.Processors, s.RoundTrip, s.Largest, s.Watchers = p.Machine, p.RoundTrip, p.Largest, p.Watchers/float64(s.Daemons)
		if s.Etcds <= 1 {
			s.Largest = 1
		}
	}
	return all
}

// Write writes the checks to out and, if all hold, puts the page between the marks of a Markdown file.
func Write(path string, reports []*report.Report, out io.Writer) error {
	p, checks, err := Read(reports)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "what\tpredicted\tmeasured\t×\tat most")
	for _, c := range checks {
		_, _ = fmt.Fprintln(t, strings.Join(c.cells(), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := Failed(checks); err != nil {
		return err
	}
	return report.ReplaceSection(path, "scale", p.page(reports, checks))
}

func (c Check) cells() []string {
	number := func(v float64) string { return measure.Short(v) + " " + c.Unit }
	if c.Unit == "µs" {
		number = measure.Span
	}
	return []string{c.title(), number(c.Predicted), number(c.Measured), measure.Short(c.Predicted / c.Measured), measure.Short(c.Bound)}
}

// page is all tables, as Markdown.
func (p Parameters) page(reports []*report.Report, checks []Check) string {
	var b strings.Builder
	for _, r := range reports {
		if r.Origin != nil {
			b.WriteString("Measured " + r.Origin.Line())
		}
	}
	table := func(title string, heads ...string) func(...string) {
		_, _ = fmt.Fprintf(&b, "\n%s\n\n| %s |\n|%s\n", title, strings.Join(heads, " | "), strings.Repeat("---|", len(heads)))
		return func(cells ...string) { _, _ = fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	}
	p.writeParameters(table("**Parameters.**", "What", "Value", "Source"))
	add := table("**Predicted and measured.** Small sizes, on one machine with the clients. × is predicted by measured; more than the bound, either way, is an error.",
		"What", "Predicted", "Measured", "×", "Bound")
	for _, c := range checks {
		add(c.cells()...)
	}
	highest := p.projected().writeRates(table("**Writes.** Simulated, on machines of their own.",
		"Setup", "Writes/s", "Median, p99", "In a commit", "Processors busy: a daemon, an etcd", "Events/s a daemon applies", "Highest rate, and what is busiest then"))
	p.writeObjects(table(fmt.Sprintf("**Objects.** Computed. What is first at its end is that at %s writes/s; above 100 %% is more than there is.", whole(pageRates[len(pageRates)-1])),
		"Setup", "Objects", "Memory of a daemon: alive, at most", "Start: usual, without a copy", "The largest etcd: objects; with history at 1,000 and 10,000 writes/s", "First at its end"), highest)
	p.writeWatches(table(fmt.Sprintf("**Watches.** Computed: watches of everything, on three daemons; trees with %d branches. A watch may be away for %s at 1,000 writes/s and for %s at 10,000, before it must list again.",
		p.Branches, seconds(p.history(1_000)), seconds(p.history(10_000))),
		"Events/s", "Watches", "Each daemon, without a tree", "Tree: levels, relays", "Each daemon above it", "It adds"))
	return b.String()
}

// projected are the parameters without what the measured machine was doing besides.
func (p Parameters) projected() Parameters {
	p.Disk.Stall, p.Etcd.Stall = p.Stall, p.Stall
	return p
}

func (p Parameters) writeParameters(add func(...string)) {
	const scale = "`scale`, "
	costs := func(c *StoreCost, etcd bool) {
		store, which := "on its disk", "disk"
		if etcd {
			store, which = "on an etcd", "etcd"
		}
		from := scale + which + ": "
		add("CPU of a daemon "+store+": a write, a commit", measure.Span(c.Write)+", "+measure.Span(c.Batch), from+fewest+", "+most)
		if etcd {
			add("CPU of etcd: a write, a commit", measure.Span(c.EtcdWrite)+", "+measure.Span(c.EtcdBatch), from+fewest+", "+most)
		}
		add("of the machine, what others left, "+store, percent(c.Left), from+most+"; only where predictions are checked")
		add("of a commit's CPU, what its writes wait for, "+store, percent(c.Path), from+fewest+", latency")
		add("wait for a commit "+store+"; of "+percent(stalls)+" of them beyond that", measure.Span(c.Wait)+"; "+measure.Span(c.Stall), from+fewest+", median less CPU; p99, only where predictions are checked")
		add("memory "+store+": no object, each object", measure.Short(c.Memory.Base)+" MiB, "+bytes(c.Memory.PerObject), from+"two smallest sizes")
		add("start "+store+": no object, each object", measure.Short(c.Start.Base)+" ms, "+measure.Span(c.Start.PerObject*1e3), from+"two smallest sizes")
		if etcd {
			add("start without a copy: no object, each object", measure.Short(c.StartWithout.Base)+" ms, "+measure.Span(c.StartWithout.PerObject*1e3), from+"two smallest sizes")
			add("etcd: each object, or version of it", bytes(c.Bytes.PerObject), from+"two smallest sizes")
		}
	}
	costs(&p.Disk, false)
	costs(&p.Etcd, true)
	add("CPU of another daemon that follows a write", measure.Span(p.Follow), scale+"etcd: follower")
	add("CPU of etcd to tell another daemon of a write", measure.Span(p.Feed), scale+"etcd: followed, less 32 clients")
	add("CPU, bytes of an event to one of many watches", measure.Span(p.Event)+", "+whole(p.EventBytes), "`watch-fanout`, bursts")
	add("CPU of the clients, for a write", measure.Span(p.Client), scale+"disk: client; only where predictions are checked")
	for _, a := range []struct{ what, value string }{
		{"a machine", fmt.Sprintf("%d processors like those measured, %s, %g Gbit/s", p.Machine, memory(p.MemoryMiB), p.NetworkGbit)},
		{"between two machines and back", measure.Span(p.RoundTrip)},
		{"an etcd has three members; of " + percent(stalls) + " of commits, the wait beyond the usual one", measure.Span(p.Stall)},
		{"share of the largest collection, which an etcd has for itself", percent(p.Largest)},
		{"share of objects that daemons of every etcd hold", percent(p.Everywhere)},
		{"of a write's CPU, before the commit", percent(p.Before)},
		{"of etcd's CPU for a write, one after the other", percent(p.Serial)},
		{"watches that an event reaches, of all daemons", measure.Short(p.Watchers)},
	} {
		add(a.what, a.value, "assumed")
	}
	add("garbage beside what is alive, at most", percent(p.Headroom)+", and "+memory(p.GarbageMiB), "[performance](performance.md#memory)")
	add("changes that a daemon keeps, that etcd keeps", memory(p.HistoryMiB)+", "+seconds(p.KeptSeconds), "defaults; the history and one interval of compaction")
	add("bytes of an etcd, at most", memory(p.QuotaMiB), "what etcd advises")
}

// writeRates answers how far each setup goes, and what ends it.
func (p Parameters) writeRates(add func(...string)) map[string]Usage {
	highest := map[string]Usage{}
	for _, s := range p.setups() {
		most, at := Highest(p, s, seed)
		highest[s.Name] = Usage{at.Busiest().What, most}
		for _, rate := range pageRates {
			s.Rate = rate
			o := Simulate(p, s, seed)
			end := fmt.Sprintf("%s/s, %s %s", whole(most), at.Busiest().What, percent(at.Busiest().Share))
			if !o.keepsUp() {
				add(s.Name, whole(rate), "not kept up with", "–", "–", "–", end)
				continue
			}
			busy := measure.Short(o.Daemon)
			if s.Etcds > 0 {
				busy += ", " + measure.Short(o.Etcd)
			}
			add(s.Name, whole(rate), measure.Span(o.P50)+", "+measure.Span(o.P99), measure.Short(o.Batch), busy, whole(o.Applied), end)
		}
	}
	return highest
}

func (p Parameters) writeObjects(add func(...string), highest map[string]Usage) {
	for _, s := range p.setups() {
		for _, n := range pageObjects {
			alive, most := p.memory(s, n)
			usual, without := p.start(s, n)
			rate := pageRates[len(pageRates)-1]
			first := Usage{highest[s.Name].What, rate / highest[s.Name].Share}
			note := func(what string, share float64) {
				if share > first.Share {
					first = Usage{what, share}
				}
			}
			note("memory of a daemon", most/p.MemoryMiB)
			start, stored := seconds(usual), "–"
			if s.Etcds > 0 {
				state, slow := p.etcdBytes(s, n, pageRates[0])
				_, fast := p.etcdBytes(s, n, rate)
				note("bytes of an etcd", fast/p.QuotaMiB)
				start += ", " + seconds(without)
				stored = memory(state) + "; " + memory(slow) + ", " + memory(fast)
			}
			add(s.Name, whole(n), memory(alive)+", "+memory(most), start, stored, first.What+" "+percent(first.Share))
		}
	}
}

func (p Parameters) writeWatches(add func(...string)) {
	const daemons = 3
	for _, rate := range pageRates {
		for _, n := range pageWatches {
			f := p.watches(daemons, rate, n)
			tree, above, delay := "not needed", "–", "–"
			if f.Levels > 0 {
				tree, above, delay = fmt.Sprintf("%d, %d", f.Levels, f.Relays), measure.Short(f.Fed)+" processors", measure.Span(f.Delay)
			}
			add(whole(rate), whole(n), measure.Short(f.Processors)+" processors, "+measure.Short(f.Gbit)+" Gbit/s", tree, above, delay)
		}
	}
}

func percent(share float64) string { return measure.Short(share*100) + " %" }

// whole prints a number in groups of three digits.
func whole(v float64) string {
	digits, _, _ := strings.Cut(measure.Plural(int(v+0.5), ""), " ")
	return digits
}

func memory(mib float64) string {
	switch {
	case mib >= 1<<20:
		return measure.Short(mib/(1<<20)) + " TiB"
	case mib >= 1<<10:
		return measure.Short(mib/(1<<10)) + " GiB"
	default:
		return measure.Short(mib) + " MiB"
	}
}

// bytes prints MiB that are few bytes.
func bytes(mib float64) string { return whole(mib*(1<<20)) + " bytes" }

func seconds(s float64) string {
	if s >= 120 {
		return measure.Short(s/60) + " min"
	}
	return measure.Short(s) + " s"
}

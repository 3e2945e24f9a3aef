package scale

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/report"
)

// Parameters are all that the model knows.
type Parameters struct {
	Measured
	Assumed
}

// Measured is what saved reports say.
type Measured struct {
	Processors int // of the machine that was measured
	Client     float64
	Disk, Etcd StoreCost
	Follow     float64 // CPU of another daemon, for each write
	Feed       float64 // CPU of etcd, for each write and each further daemon that follows
	Event      float64 // CPU of an event to one of many watches, when events queue up
	EventBytes float64
}

// StoreCost is what a write and an object cost on one sort of store.
type StoreCost struct {
	Write, Batch         float64 // CPU of the daemon, for each write and for each commit
	EtcdWrite, EtcdBatch float64 // CPU of etcd; 0 on the disk
	Left                 float64 // of the machine, what other programs have left to the bench when that asked for all of it
	Path                 float64 // share of the CPU of a commit that its writes wait for; the rest goes on beside them
	Wait, Stall          float64 // of one commit, what nobody computes (the sync, and those who are woken), and of some what they wait beyond that, on the mean
	MostInBatch          int
	Memory               line // MiB resident
	Start                line // ms
	StartWithout         line // ms, without a copy on the local disk
	Bytes                line // MiB of etcd
}

// line is a cost that grows with the number of objects.
type line struct{ Base, PerObject float64 }

// At is the cost with so many objects.
func (l line) At(objects float64) float64 { return l.Base + objects*l.PerObject }

// Assumed is what was not measured.
type Assumed struct {
	Before      float64 // share of a write's CPU that comes before its commit
	Serial      float64 // share of etcd's CPU for a write that is its application, one after the other
	Machine     int     // processors of a machine, each as fast as those that were measured
	MemoryMiB   float64 // of a machine
	RoundTrip   float64
	Stall       float64 // of commits that take longer than usual, on the mean
	Largest     float64 // share of the largest collection in objects and in writes
	Everywhere  float64 // share of the objects that each daemon must hold
	Headroom    float64 // what garbage may add to what is alive, as a share of it,
	GarbageMiB  float64 // and beside that
	HistoryMiB  float64 // of changes that a daemon keeps
	KeptSeconds float64 // of changes that etcd keeps
	QuotaMiB    float64 // of an etcd
	Watchers    float64 // that an event reaches
	Branches    int     // that a node of a tree of watches has below it
	NetworkGbit float64 // of a machine
}

// assumed are the assumptions of the page.
var assumed = Assumed{
	Before: 0.75, Serial: 0.5, Machine: 16, MemoryMiB: 64 << 10, RoundTrip: 500, Stall: 5_000, Largest: 0.4, Everywhere: 0.01,
	Headroom: 0.25, GarbageMiB: 160, HistoryMiB: 128, KeptSeconds: 600, QuotaMiB: 8 << 10, Watchers: 20, Branches: 16, NetworkGbit: 10,
}

func (p *Parameters) costOf(etcd bool) *StoreCost {
	if etcd {
		return &p.Etcd
	}
	return &p.Disk
}

// What a commit holds at most: on the disk the default of commits.batchSize, on etcd what a transaction holds.
const (
	mostOnDisk = 4096
	mostOnEtcd = 127
)

// rows are those of all reports by name. What is missing is gathered, so that it is told at once.
type rows struct {
	byName  map[string]*report.Row
	missing []error
}

// Read takes the parameters from saved reports of the workloads scale (with an etcd) and watch-fanout.
func Read(reports []*report.Report) (Parameters, []Check, error) {
	r := &rows{byName: map[string]*report.Row{}}
	p := Parameters{Assumed: assumed}
	for _, one := range reports {
		for _, row := range one.Rows {
			if row.Target != "" {
				continue
			}
			r.byName[row.Name] = row
			if strings.HasPrefix(row.Name, "scale, ") && one.Origin != nil {
				_, _ = fmt.Sscanf(one.Origin.Machine, "%d ×", &p.Processors)
			}
		}
	}
	p.Client = r.figure("scale, disk, client")
	p.Disk, p.Etcd = r.store(&p, "disk", mostOnDisk), r.store(&p, "etcd", mostOnEtcd)
	p.Follow = r.cpu("scale, etcd, follower")
	p.Feed = max(0, r.etcd("scale, etcd, followed")-r.etcd("scale, etcd, 32 clients"))
	p.Event, p.EventBytes = r.daemon("watch-fanout, bursts"), float64(r.row("watch-fanout, bursts").Bytes)
	if p.Processors < 1 {
		r.missing = append(r.missing, errors.New("the reports do not say how many processors the machine has"))
	}
	if len(r.missing) > 0 {
		return p, nil, errors.Join(r.missing...)
	}
	checks := r.checks(p)
	return p, checks, errors.Join(r.missing...)
}

// row is that of a name; an empty one if there is none.
func (r *rows) row(name string) *report.Row {
	if row := r.byName[name]; row != nil {
		return row
	}
	r.missing = append(r.missing, fmt.Errorf("the reports have no row %q", name))
	return &report.Row{Figure: &measure.Figure{}}
}

func (r *rows) cpu(name string) float64  { return r.value(name, r.row(name).CPU) }
func (r *rows) etcd(name string) float64 { return r.value(name, r.row(name).Etcd) }

// daemon is the CPU time without that of an etcd, if there is one.
func (r *rows) daemon(name string) float64 {
	if r.row(name).Etcd == nil {
		return r.cpu(name)
	}
	return r.cpu(name) - r.etcd(name)
}

func (r *rows) figure(name string) float64 {
	if f := r.row(name).Figure; f != nil {
		return f.Value
	}
	return r.value(name, nil)
}

func (r *rows) value(name string, v *float64) float64 {
	if v == nil {
		if r.byName[name] != nil {
			r.missing = append(r.missing, fmt.Errorf("the row %q lacks what the model needs of it: the load was too short", name))
		}
		return 0
	}
	return *v
}

// fewest and most are the loads that the costs of a write and of a commit are taken from: in the one each write has a commit of its own, in
// the other many share one.
const (
	fewest = "1 client"
	most   = "128 clients"
)

// store takes what one sort of store costs.
func (r *rows) store(p *Parameters, name string, mostInBatch int) StoreCost {
	c := StoreCost{MostInBatch: mostInBatch}
	one, many := "scale, "+name+", "+fewest, "scale, "+name+", "+most
	shared := r.figure(many)
	c.Write, c.Batch = split(r.daemon(one), r.daemon(many), shared)
	if name == "etcd" {
		c.EtcdWrite, c.EtcdBatch = split(r.etcd(one), r.etcd(many), shared)
		c.StartWithout = r.line(name, "start without a copy")
		c.Bytes = r.line(name, "bytes")
	}
	// Half of those that stall wait longer than p99. What is left of the median, without the CPU time of the write itself, is first that of the
	// commit, and then a wait.
	c.Stall = (r.row(one).P99 - r.row(one).P50) / math.Ln2
	c.Left = min(1, r.row(many).Rate*(r.cpu(many)+p.Client)/1e6/float64(max(1, p.Processors)))
	writing, committing := (p.Client+c.Write+c.EtcdWrite)/c.Left, (c.Batch+c.EtcdBatch)/c.Left
	rest := max(0, r.row(one).P50-writing)
	c.Path = min(1, rest/max(1, committing))
	c.Wait = rest - c.Path*committing
	c.Memory, c.Start = r.line(name, "memory"), r.line(name, "start")
	return c
}

// split parts the CPU time of a write alone in its commit, and of one that shares it, into what each write and what each commit costs.
func split(alone, sharing, shared float64) (write, commit float64) {
	if shared <= 1 {
		return alone, 0
	}
	commit = max(0, (alone-sharing)/(1-1/shared))
	return alone - commit, commit
}

// size is a row at a number of objects.
type size struct {
	objects float64
	row     *report.Row
}

// sizes are the rows of a quantity, by the number of objects.
func (r *rows) sizes(store, what string) []size {
	var all []size
	prefix := "scale, " + store + ", " + what + ", "
	for name, row := range r.byName {
		count, found := strings.CutPrefix(name, prefix)
		if !found || row.Figure == nil {
			continue
		}
		digits, _, _ := strings.Cut(strings.ReplaceAll(count, ",", ""), " ")
		if n, err := strconv.Atoi(digits); err == nil {
			all = append(all, size{float64(n), row})
		}
	}
	slices.SortFunc(all, func(a, b size) int { return int(a.objects - b.objects) })
	if len(all) < 3 {
		r.missing = append(r.missing, fmt.Errorf("the reports have only %d rows %q, of 3", len(all), prefix+"…"))
		return make([]size, 3)
	}
	return all
}

// line goes through the two smallest sizes. The others show whether it is one.
func (r *rows) line(store, what string) line {
	all := r.sizes(store, what)
	if all[1].objects == 0 {
		return line{}
	}
	base := all[0].row.Figure.Value
	return line{base, (all[1].row.Figure.Value - base) / (all[1].objects - all[0].objects)}
}

package flowcontrol

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A Dump writes the flow control state as a table in kube-apiserver's format. If details is set,
// the table includes request attributes such as user and verb.
type Dump func(w io.Writer, details bool) error

// Dumps returns the dumps by the last segment of their URL path.
func (c *Controller) Dumps() map[string]Dump {
	return map[string]Dump{"dump_priority_levels": c.dumpLevels, "dump_queues": c.dumpQueues, "dump_requests": c.dumpRequests}
}

// A table writes one row per line, with aligned cells separated by commas.
type table struct{ tabs *tabwriter.Writer }

func newTable(w io.Writer, header ...any) table {
	t := table{tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)}
	t.row(header...)
	return t
}

// row adds a row. Control characters are replaced, because text from clients must not end a line or
// cell.
func (t table) row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = strings.Map(printable, fmt.Sprint(c))
	}
	fmt.Fprintln(t.tabs, strings.Join(texts, ",\t")) // Flush returns the error again
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// dumpLevels writes one row per level. It copies the counters first, so that it holds no lock while
// it writes.
func (c *Controller) dumpLevels(w io.Writer, _ bool) error {
	t := newTable(w, "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests",
		"DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests")
	for _, f := range c.figures() {
		t.row(f.name, f.activeQueues, f.idle, f.undesired, f.waiting, f.executing, f.dispatched, f.rejected, f.timedOut, f.cancelled)
	}
	return t.tabs.Flush()
}

func (c *Controller) dumpQueues(w io.Writer, _ bool) error {
	t := newTable(w, "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR",
		"InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum")
	c.eachLevel(func(l *level) {
		for _, index := range slices.Sorted(maps.Keys(l.queues)) {
			q, initial, most := l.queues[index], 0, 0
			for r := q.first; r != nil; r = r.next {
				initial, most = initial+r.work.InitialSeats, most+r.seats
			}
			t.row(l.spec.name, index, q.length, q.executing, q.seats, seconds(q.nextDispatch), initial, most, seconds(q.waitingWork))
		}
	})
	return t.tabs.Flush()
}

func seconds(s float64) string { return fmt.Sprintf("%.8fss", s) }

func (c *Controller) dumpRequests(w io.Writer, details bool) error {
	header := []any{"PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime",
		"InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"}
	if details {
		header = append(header, "UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource")
	}
	t := newTable(w, header...)
	c.eachLevel(func(l *level) {
		for _, index := range slices.Sorted(maps.Keys(l.queues)) {
			place := 0
			for r := l.queues[index].first; r != nil; r = r.next {
				t.row(r.cells(index, place, details)...)
				place++
			}
		}
		for r := l.running; r != nil; r = r.next {
			index := -1
			if r.queue != nil {
				index = r.queue.index
			}
			t.row(r.cells(index, -1, details)...)
		}
	})
	return t.tabs.Flush()
}

// cells returns the request's table row. The caller holds the level's lock.
func (r *Request) cells(queue, place int, details bool) []any {
	at := func(nanoseconds int64) string {
		if nanoseconds == 0 {
			return time.Time{}.Format(time.RFC3339Nano)
		}
		return r.level.epoch.Add(time.Duration(nanoseconds)).UTC().Format(time.RFC3339Nano)
	}
	cells := []any{r.level.spec.name, r.schema.name, queue, place, r.distinguisher(), at(r.came), r.work.InitialSeats, r.work.FinalSeats,
		r.work.AdditionalLatency, at(r.began)}
	if !details {
		return cells
	}
	a, user := &r.attributes, ""
	if a.User != nil {
		user = a.User.Name
	}
	version := a.Version
	if a.Group != "" {
		version = a.Group + "/" + version
	}
	return append(cells, user, a.Verb, a.Path, a.Namespace, a.Name, version, a.Resource, a.Subresource)
}

// eachLevel calls do for each level, under the level's lock and in name order. do must not write to
// a client, because all requests of the level would wait. It may add rows to a table, which is
// buffered.
func (c *Controller) eachLevel(do func(*level)) {
	levels := c.current.Load().levels
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		func() {
			l := levels[name]
			l.mu.Lock()
			defer l.mu.Unlock()
			do(l)
		}()
	}
}

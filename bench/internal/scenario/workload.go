package scenario

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/server"
)

// Workload is one scenario. Run prepares, measures and cleans up; an error means that there is nothing to
// report.
type Workload struct {
	Name  string
	Run   func(ctx context.Context, s *Session) ([]Result, error)
	Own   bool // starts servers of its own, from a binary
	named bool // runs only if it is named
}

// Session is what a workload gets: the target, the flags, and a place for remarks. A workload may change
// its copy, as for a server of its own.
type Session struct {
	Options
	Target      *server.Target
	Identity    *server.Identity // what the target accepts beside its administrator; nil if that is not known
	Descriptors int              // files that a process may open; 0 if that is not known
	Note        func(format string, args ...any)
}

// settle leaves a server alone before its memory is read, so that it can give back what it needed for a moment.
func (s *Session) settle(ctx context.Context) {
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
}

// Result is one measurement of a workload, a row of the report. Rows of all targets are matched by name, so
// names must not depend on the target.
type Result struct {
	Name       string
	Sample     *measure.Sample     // nil if there is only a figure
	Figure     *measure.Figure     // what the row is about, if it is not CPU per operation
	TimeSeries *measure.TimeSeries // how the server was doing meanwhile; nil if that was not looked at
	// Floor measures the same on a server that does nothing; nil if there is no such thing.
	Floor func(ctx context.Context, floor *server.Target) (*measure.Sample, error)
}

// Workloads lists all, in the order in which they run: those that read memory come first, while
// the process is young, and those that leave much behind come last.
// A name stays what it is once reports were saved: comparisons match rows by it.
func Workloads() []Workload {
	return []Workload{
		{Name: "idle-watchers", Run: idleWatchers},
		{Name: "create", Run: createObjects},
		{Name: "get", Run: getObjects},
		{Name: "update", Run: updateObjects},
		{Name: "merge-patch", Run: patchObjects},
		{Name: "apply", Run: applyObjects},
		{Name: "apply-pod", Run: applyPods},
		{Name: "delete", Run: deleteObjects},
		{Name: "list", Run: listObjects},
		{Name: "list-chunked", Run: listChunked},
		{Name: "get-protobuf", Run: inProtobuf(getObjects)},
		{Name: "create-protobuf", Run: inProtobuf(createObjects)},
		{Name: "update-protobuf", Run: inProtobuf(updateObjects)},
		{Name: "merge-patch-protobuf", Run: inProtobuf(patchObjects)},
		{Name: "apply-protobuf", Run: inProtobuf(applyObjects)},
		{Name: "delete-protobuf", Run: inProtobuf(deleteObjects)},
		{Name: "apply-pod-protobuf", Run: inProtobuf(applyPods)},
		{Name: "list-protobuf", Run: inProtobuf(listObjects)},
		{Name: "list-chunked-protobuf", Run: inProtobuf(listChunked)},
		{Name: "watch-fanout", Run: watchFanout},
		{Name: "watch-fanout-protobuf", Run: inProtobuf(watchFanout)},
		{Name: "durable-create", Run: durableCreate},
		{Name: "hot-object", Run: hotObject},
		{Name: "hot-object-protobuf", Run: inProtobuf(hotObject)},
		{Name: "leases", Run: leases},
		{Name: "leases-protobuf", Run: inProtobuf(leases)},
		{Name: "pod-life", Run: podLife},
		{Name: "custom-resource", Run: customResource},
		{Name: "overload", Run: overload},
		{Name: "noisy", Run: noisy},
		{Name: "mixed", Run: mixed},
		{Name: "mixed-protobuf", Run: inProtobuf(mixed)},
		{Name: "cluster", Run: simulateCluster},
		{Name: "selector", Run: selectNothing},
		{Name: "soak", Run: soak, named: true},
		{Name: "cold-start", Run: coldStart, Own: true},
		{Name: "definitions", Run: defineMany, Own: true},
		{Name: "million", Run: million, Own: true, named: true},
	}
}

// WorkloadOf returns the workload of that name, or none. Names are those of the flag --workloads.
func WorkloadOf(name string) (Workload, bool) {
	all := Workloads()
	i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name })
	if i < 0 {
		return Workload{}, false
	}
	return all[i], true
}

// workloadNames lists all, or those that run unless others are named.
func workloadNames(all bool) []string {
	var names []string
	for _, w := range Workloads() {
		if all || !w.named {
			names = append(names, w.Name)
		}
	}
	return names
}

// requestShape is what a floor must do to move as many bytes as one operation did. The floor does not look
// at any of it but the size, so TLS, HTTP and the sockets are all that it costs.
type requestShape struct {
	method, contentType string
	body                []byte
	requests            int // per operation
	bytes               int // of each answer
}

// floor returns how to measure the exchange under the same load. No profile is taken of the floor, or it
// would replace that of the server.
func (x requestShape) floor(load measure.Load) func(context.Context, *server.Target) (*measure.Sample, error) {
	path := "/floor?bytes=" + strconv.Itoa(x.bytes)
	// load is a copy, so the measurement of the server keeps its profile.
	load.Profile = ""
	return func(ctx context.Context, floor *server.Target) (*measure.Sample, error) {
		return load.Drive(ctx, floor, func(c *server.Conn, _ int) (int, error) {
			sum := 0
			for range x.requests {
				answer, err := c.Expect(http.StatusOK, x.method, path, x.contentType, x.body)
				if err != nil {
					return sum, err
				}
				sum += len(answer)
			}
			return sum, nil
		})
	}
}

// requestResult makes the one result of a workload whose operation is one request. The floor answers as
// many bytes as the server did on average.
func requestResult(name string, sample *measure.Sample, load measure.Load, method, contentType string, body []byte) []Result {
	x := requestShape{method: method, contentType: contentType, body: body, requests: 1, bytes: sample.BytesPerOperation()}
	return []Result{{Name: name, Sample: sample, Floor: x.floor(load)}}
}

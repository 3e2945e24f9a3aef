package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runFunc prepares and measures a workload, and cleans up. With an error, it returns no results.
type runFunc func(ctx context.Context, s *Session) ([]Result, error)

// Workload is an entry in the table of workloads.
type Workload struct {
	Name     string
	Run      runFunc
	Own      bool // starts its own servers
	protobuf bool // has a variant with Protobuf only
	named    bool // does not run by default
}

const protobufSuffix = "-protobuf"

// workloads returns all workloads in the order in which they run. Workloads that measure memory
// come first, while the process is new. Workloads that leave many objects come last. Names must not
// change, because comparisons match rows by name.
func workloads() (all []Workload) {
	for _, w := range []Workload{
		{Name: "idle-watchers", Run: withObjects(one, idleWatchers)},
		{Name: "create", Run: withObjects(none, single{request: (*fixture).create}.run), protobuf: true},
		{Name: "get", Run: withObjects(hot, single{request: (*fixture).get}.run), protobuf: true},
		{Name: "update", Run: withObjects(hot, single{request: (*fixture).put}.run), protobuf: true},
		{Name: "merge-patch", Run: withObjects(hot, single{request: (*fixture).patch}.run), protobuf: true},
		{Name: "apply", Run: withObjects(hot, single{request: (*fixture).apply}.run), protobuf: true},
		{Name: "apply-pod", Run: withObjects(none, applyPods), protobuf: true},
		{Name: "delete", Run: withObjects(everything, single{once: true, request: (*fixture).delete}.run), protobuf: true},
		{Name: "list", Run: withObjects(everything, single{request: (*fixture).list}.run), protobuf: true},
		{Name: "list-chunked", Run: withObjects(everything, listChunked), protobuf: true},
		{Name: "watch-fanout", Run: withObjects(hot, watchFanout), protobuf: true},
		{Name: "durable-create", Run: withObjects(none, durableCreate)},
		{Name: "hot-object", Run: withObjects(one, single{clients: hotWriters, request: (*fixture).patch}.run), protobuf: true},
		{Name: "leases", Run: withObjects(none, renewLeases), protobuf: true},
		{Name: "pod-life", Run: withObjects(none, podLife), protobuf: true},
		{Name: "custom-resource", Run: withObjects(none, customResource)},
		{Name: "overload", Run: withObjects(hot, overload)},
		{Name: "mixed", Run: mixed, protobuf: true},
		{Name: "cluster", Run: inProtobuf(withObjects(none, simulateCluster))},
		{Name: "selector", Run: withObjects(none, selectNothing)},
		{Name: "growth", Run: growth, named: true},
		{Name: "soak", Run: soak, named: true},
		{Name: "cold-start", Run: coldStart, Own: true},
		{Name: "definitions", Run: defineMany, Own: true},
		{Name: "fork", Run: forks, Own: true},
		{Name: "validate", Run: validate, Own: true},
		{Name: "million", Run: million, Own: true, named: true},
	} {
		run := w.Run
		w.Run = rename(w.Name, run)
		all = append(all, w)
		if w.protobuf {
			w.Name += protobufSuffix
			w.Run = rename(w.Name, inProtobuf(run))
			all = append(all, w)
		}
	}
	return all
}

func rename(name string, run runFunc) runFunc {
	return func(ctx context.Context, s *Session) ([]Result, error) {
		results, err := run(ctx, s)
		for i := range results {
			if variant := results[i].Name; variant == "" || strings.HasPrefix(variant, ", ") {
				results[i].Name = name + variant
			}
		}
		return results, err
	}
}

// inProtobuf runs a workload whose clients use only Protobuf, as typed clients do. Patches are
// still JSON.
func inProtobuf(run runFunc) runFunc {
	return func(ctx context.Context, s *Session) ([]Result, error) {
		typed := *s
		// A server that is already running must use the naming profile of --naming.
		typed.Target = s.Target.speaking("application/vnd." + s.Naming + ".protobuf")
		return run(ctx, &typed)
	}
}

func workloadOf(name string) Workload {
	all := workloads()
	if i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name }); i >= 0 {
		return all[i]
	}
	return Workload{}
}

func workloadNames(all bool) (names []string) {
	for _, w := range workloads() {
		if all || !w.named {
			names = append(names, w.Name)
		}
	}
	return names
}

func protobufVariants(names []string) (variants []string) {
	for _, name := range names {
		name = strings.TrimSuffix(name, protobufSuffix) + protobufSuffix
		if workloadOf(name).Name != "" && !slices.Contains(variants, name) {
			variants = append(variants, name)
		}
	}
	return variants
}

// Result is a row of the report. If Name is empty or begins with a comma, the workload's name is
// prepended.
type Result struct {
	Name       string
	Sample     *Sample     // nil if there is only a figure
	Figure     *Figure     // the result, unless it is CPU time per operation
	TimeSeries *TimeSeries // nil except for the soak
	// Floor measures the same operations on the floor, the bare server used for comparison. Floor
	// is nil if the comparison is not meaningful.
	Floor func(ctx context.Context, floor *Target) (*Sample, error)
}

// floorOf returns a function that measures operations on the floor, the bare server used for
// comparison. Each operation sends the given number of requests, and their responses have the given
// total size in bytes. The floor is not profiled, because its profile would overwrite the measured
// server's.
func floorOf(load Load, request Request, requests, bytes int) func(context.Context, *Target) (*Sample, error) {
	request.Path, request.Check = "/floor?bytes="+strconv.Itoa(bytes/requests), nil
	load.Profile = ""
	return func(ctx context.Context, floor *Target) (*Sample, error) {
		return load.drive(ctx, floor, func(c *Conn, _ int) (int, error) {
			sum := 0
			for range requests {
				answer, err := c.Call(request)
				if err != nil {
					return sum, err
				}
				sum += len(answer)
			}
			return sum, nil
		})
	}
}

// Session holds the input of a workload: the target, the flags, and a function that adds notes to
// the report.
type Session struct {
	Options
	Target       *Target
	Binary, Etcd string // for servers that the workload starts
	Descriptors  int    // files that a process may open; 0 if unknown
	Note         func(format string, args ...any)
}

func (s *Session) settle(ctx context.Context) {
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
}

// spareDescriptors are reserved for files, pipes and other connections.
const spareDescriptors = 256

func (s *Session) scaledSize(what string, n int) int {
	scaled := max(1, int(float64(n)*s.Scale))
	if scaled != n {
		s.Note("%s: %d instead of %d (--scale %v)", what, scaled, n, s.Scale)
	}
	return scaled
}

// connections returns the number of connections, at most n, that the open-file limit allows besides
// the workers' connections. Each connection needs a descriptor on the client and on the server.
func (s *Session) connections(what string, n int) int {
	room := max(1, s.Descriptors-spareDescriptors-s.Concurrency)
	if s.Descriptors == 0 || n <= room {
		return n
	}
	s.Note("%s: %d instead of %d, because a process may open %d files here (ulimit -Hn)", what, room, n, s.Descriptors)
	return room
}

// group returns the API group whose name begins with prefix. Its domain depends on the naming
// profile.
func (t *Target) group(prefix string) (string, error) {
	c := t.speaking("").Conn()
	defer c.Close()
	answer, err := c.Call(get("/apis"))
	if err != nil {
		return "", err
	}
	var list struct {
		Groups []struct {
			Name string `json:"name"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	for _, g := range list.Groups {
		if strings.HasPrefix(g.Name, prefix+".") {
			return g.Name, nil
		}
	}
	return "", fmt.Errorf("the server has no API group %s.*", prefix)
}

// timeRequest records the time from begin until a new connection has received the response to a
// GET, including the handshake.
func (t *Target) timeRequest(path string, begin time.Time, sample *Sample) error {
	c := t.Conn()
	defer c.Close()
	answer, err := c.Call(get(path))
	if err != nil {
		sample.fail(err)
		return err
	}
	took := time.Since(begin)
	sample.record(took, len(answer))
	sample.Elapsed += took
	return nil
}

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

// runFunc prepares, measures and cleans up a workload. An error means that there is no result.
type runFunc func(ctx context.Context, s *Session) ([]Result, error)

// Workload is an entry of the table.
type Workload struct {
	Name     string
	Run      runFunc
	Own      bool // starts its own servers
	protobuf bool // has a variant with Protobuf only
	named    bool // does not run by default
}

const protobufSuffix = "-protobuf"

// workloads returns all workloads in running order: those that measure memory come first, while the
// process is young, and those that leave much state last. Names are stable, because comparisons
// match rows by name.
func workloads() (all []Workload) {
	for _, w := range []Workload{
		{Name: "idle-watchers", Run: idleWatchers},
		{Name: "create", Run: single{request: (*fixture).create}.run, protobuf: true},
		{Name: "get", Run: single{objects: hot, request: (*fixture).get}.run, protobuf: true},
		{Name: "update", Run: single{objects: hot, request: (*fixture).put}.run, protobuf: true},
		{Name: "merge-patch", Run: single{objects: hot, request: (*fixture).patch}.run, protobuf: true},
		{Name: "apply", Run: single{objects: hot, request: (*fixture).apply}.run, protobuf: true},
		{Name: "apply-pod", Run: applyPods, protobuf: true},
		{Name: "delete", Run: single{objects: everything, once: true, request: (*fixture).delete}.run, protobuf: true},
		{Name: "list", Run: single{objects: everything, request: (*fixture).list}.run, protobuf: true},
		{Name: "list-chunked", Run: listChunked, protobuf: true},
		{Name: "watch-fanout", Run: watchFanout, protobuf: true},
		{Name: "durable-create", Run: durableCreate},
		{Name: "hot-object", Run: single{objects: one, clients: hotWriters, request: (*fixture).patch}.run, protobuf: true},
		{Name: "leases", Run: renewLeases, protobuf: true},
		{Name: "pod-life", Run: podLife, protobuf: true},
		{Name: "custom-resource", Run: customResource},
		{Name: "overload", Run: overload},
		{Name: "mixed", Run: mixed, protobuf: true},
		{Name: "cluster", Run: inProtobuf(simulateCluster)},
		{Name: "selector", Run: selectNothing},
		{Name: "growth", Run: growth, named: true},
		{Name: "soak", Run: soak, named: true},
		{Name: "cold-start", Run: coldStart, Own: true},
		{Name: "definitions", Run: defineMany, Own: true},
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

// rename prefixes row names with the name of the workload.
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

// inProtobuf runs a workload whose clients send and accept only Protobuf, like typed clients.
// Patches are in JSON.
func inProtobuf(run runFunc) runFunc {
	return func(ctx context.Context, s *Session) ([]Result, error) {
		typed := *s
		// A running server must have the profile of --naming.
		typed.Target = s.Target.speaking("application/vnd." + s.Naming + ".protobuf")
		return run(ctx, &typed)
	}
}

// workloadOf returns the named workload, or the zero value.
func workloadOf(name string) Workload {
	all := workloads()
	if i := slices.IndexFunc(all, func(w Workload) bool { return w.Name == name }); i >= 0 {
		return all[i]
	}
	return Workload{}
}

// workloadNames returns all names, or those that run by default.
func workloadNames(all bool) (names []string) {
	for _, w := range workloads() {
		if all || !w.named {
			names = append(names, w.Name)
		}
	}
	return names
}

// protobufVariants replaces workloads by their Protobuf variants, and drops those without one.
func protobufVariants(names []string) (variants []string) {
	for _, name := range names {
		name = strings.TrimSuffix(name, protobufSuffix) + protobufSuffix
		if workloadOf(name).Name != "" && !slices.Contains(variants, name) {
			variants = append(variants, name)
		}
	}
	return variants
}

// Result is a row of the report. A name that is empty or begins with a comma is prefixed with the
// workload's name.
type Result struct {
	Name       string
	Sample     *Sample     // nil if there is only a figure
	Figure     *Figure     // the result, if that is not CPU time per operation
	TimeSeries *TimeSeries // nil except for the soak
	// Floor measures the same on the floor; nil if that makes no sense.
	Floor func(ctx context.Context, floor *Target) (*Sample, error)
}

// floorOf returns a function that measures operations of some requests on the floor, with as many
// bytes. It takes no profile, which would replace that of the server.
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

// Session holds the inputs of a workload: target, flags, and a function for remarks.
type Session struct {
	Options
	Target       *Target
	Binary, Etcd string // for servers that the workload starts
	Descriptors  int    // files that a process may open; 0 if unknown
	Note         func(format string, args ...any)
}

// settle waits for the server to free memory.
func (s *Session) settle(ctx context.Context) {
	select {
	case <-time.After(s.Settle):
	case <-ctx.Done():
	}
}

// spareDescriptors are reserved for files, pipes and uncounted connections.
const spareDescriptors = 256

// scaledSize returns a size under --scale, and notes any change.
func (s *Session) scaledSize(what string, n int) int {
	scaled := max(1, int(float64(n)*s.Scale))
	if scaled != n {
		s.Note("%s: %d instead of %d (--scale %v)", what, scaled, n, s.Scale)
	}
	return scaled
}

// connections returns how many of n connections fit in the limit of open files, next to the
// workers' connections, and notes a smaller number. Client and server need a descriptor for each.
func (s *Session) connections(what string, n int) int {
	room := max(1, s.Descriptors-spareDescriptors-s.Concurrency)
	if s.Descriptors == 0 || n <= room {
		return n
	}
	s.Note("%s: %d instead of %d, because a process may open %d files here (ulimit -Hn)", what, room, n, s.Descriptors)
	return room
}

// group returns the API group with the given first component; its domain depends on the naming
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

// timeRequest records the time since begin of one GET on a new connection, including the handshake.
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

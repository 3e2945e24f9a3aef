package main

import (
	"context"
	"net/http"
	"strconv"
)

// Workload is one scenario.
type Workload struct {
	Name string
	Run  func(ctx context.Context, s *Session) ([]Result, error)
}

// Session is what a workload gets: the target, the flags, and a place for remarks.
type Session struct {
	Options
	Target *Target
	Note   func(format string, args ...any)
}

// Result is one measurement of a workload, a row of the report.
type Result struct {
	Name   string
	Sample *Sample // nil if there is only a figure
	Figure *Figure // what the row is about, if it is not CPU per operation
	// Floor measures the same on a server that does nothing; nil if there is no such thing.
	Floor func(ctx context.Context, floor *Target) (*Sample, error)
}

// Figure is a value with its unit.
type Figure struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// nameColdStart is the one workload that needs a binary instead of a server.
const nameColdStart = "cold-start"

// workloads lists all, in the order in which they run: those that read memory come first, while
// the process is young.
func workloads() []Workload {
	return []Workload{
		{"idle-watchers", idleWatchers},
		{"create", createObjects},
		{"get", getObjects},
		{"update", updateObjects},
		{"merge-patch", patchObjects},
		{"apply", applyObjects},
		{"apply-pod", applyPods},
		{"delete", deleteObjects},
		{"list", listObjects},
		{"list-chunked", listChunked},
		{"watch-fanout", watchFanout},
		{"durable-create", durableCreate},
		{nameColdStart, coldStart},
	}
}

func workloadNames() []string {
	var names []string
	for _, w := range workloads() {
		names = append(names, w.Name)
	}
	return names
}

// exchange is what a floor must do to move as many bytes as one operation did.
type exchange struct {
	method, contentType string
	body                []byte
	requests            int // per operation
	bytes               int // of each answer
}

// floor returns how to measure the exchange under the same load.
func (x exchange) floor(load Load) func(context.Context, *Target) (*Sample, error) {
	path := "/floor?bytes=" + strconv.Itoa(x.bytes)
	return func(ctx context.Context, floor *Target) (*Sample, error) {
		return load.Drive(ctx, floor, func(c *Conn, _ int) (int, error) {
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

// simple makes the one result of a workload whose operation is one request.
func simple(name string, sample *Sample, load Load, method, contentType string, body []byte) []Result {
	x := exchange{method: method, contentType: contentType, body: body, requests: 1, bytes: sample.BytesPerOperation()}
	return []Result{{Name: name, Sample: sample, Floor: x.floor(load)}}
}

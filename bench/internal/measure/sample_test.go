package measure

import (
	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"errors"
	"math"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

func latencies(ns ...int) []time.Duration {
	var all []time.Duration
	for _, n := range ns {
		all = append(all, time.Duration(n))
	}
	return all
}

func TestPercentile(t *testing.T) {
	var hundred []int
	for n := range 100 {
		hundred = append(hundred, n+1)
	}
	for _, test := range []struct {
		latencies []time.Duration
		p         float64
		want      time.Duration
	}{
		{nil, 50, 0},
		{latencies(7), 50, 7},
		{latencies(7), 99, 7},
		{latencies(1, 2), 50, 1},
		{latencies(1, 2, 3), 50, 2},
		{latencies(1, 2, 3), 99, 3},
		{latencies(hundred...), 50, 50},
		{latencies(hundred...), 99, 99},
		{latencies(hundred...), 100, 100},
		{latencies(hundred...), 0.1, 1},
	} {
		s := Sample{Latencies: test.latencies}
		if got := s.Percentile(test.p); got != test.want {
			t.Errorf("p%v of %v = %d, not %d", test.p, test.latencies, got, test.want)
		}
	}
}

func TestSampleArithmetic(t *testing.T) {
	s := Sample{Operations: 200, Bytes: 1000, Elapsed: 4 * time.Second, Measured: true, CPU: minCPU}
	if s.Rate() != 50 || s.CPUPerOperation() != 250 || s.BytesPerOperation() != 5 {
		t.Errorf("rate %v, CPU %v, bytes %v", s.Rate(), s.CPUPerOperation(), s.BytesPerOperation())
	}
	if s.Etcd = s.CPU / 5; s.EtcdCPUPerOperation() != 50 {
		t.Errorf("CPU of etcd %v", s.EtcdCPUPerOperation())
	}
	if s.Etcd = 0; !math.IsNaN(s.EtcdCPUPerOperation()) {
		t.Error("CPU of an etcd that is not there")
	}
	little := s
	little.CPU--
	s.Measured = false
	empty := Sample{Measured: true}
	if !math.IsNaN(little.CPUPerOperation()) || !math.IsNaN(s.CPUPerOperation()) || !math.IsNaN(empty.CPUPerOperation()) || empty.Rate() != 0 || empty.BytesPerOperation() != 0 {
		t.Error("a number was made of nothing")
	}
}

func TestSampleAdd(t *testing.T) {
	var sum, first, second Sample
	first.Operations, first.Latencies = 1, latencies(3)
	second.Fail(errors.New("one"))
	second.Fail(errors.New("two"))
	sum.Add(&first)
	sum.Add(&second)
	if sum.Operations != 1 || sum.Errors != 2 || sum.FirstError != "one" || len(sum.Latencies) != 1 {
		t.Errorf("%+v", sum)
	}
}

func TestLoadBounds(t *testing.T) {
	for _, test := range []struct {
		load    Load
		n       int
		elapsed time.Duration
		want    bool
	}{
		{Load{}, 1 << 30, time.Hour, false},
		{Load{Count: 3}, 2, time.Hour, false},
		{Load{Count: 3}, 3, 0, true},
		{Load{Duration: time.Second}, 1 << 30, time.Second - 1, false},
		{Load{Duration: time.Second}, 0, time.Second, true},
	} {
		if got := test.load.Done(test.n, test.elapsed); got != test.want {
			t.Errorf("%+v after %d in %v: %v", test.load, test.n, test.elapsed, got)
		}
	}
}

// A worker gives up on a server that answers nothing any more.
func TestFailingLoadEnds(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	target := targetOf(t, kubeconfig)
	load := Load{Concurrency: 2}
	sample, err := load.Drive(t.Context(), target, func(*server.Conn, int) (int, error) { return 0, errors.New("gone") })
	if err != nil || sample.Errors != 2*maxConsecutiveErrors || sample.FirstError != "gone" {
		t.Errorf("%v: %+v", err, sample)
	}
}

func TestDriveNeedsServer(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	target := &server.Target{Address: "127.0.0.1:1", TLS: targetOf(t, kubeconfig).TLS, Timeout: time.Minute}
	if _, err := (Load{Concurrency: 2, Count: 1}).Drive(t.Context(), target, nil); err == nil {
		t.Error("no error without a server")
	}
}

// targetOf is the server of a kubeconfig.
func targetOf(t *testing.T, kubeconfig string) *server.Target {
	t.Helper()
	target, err := server.LoadTarget(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout = time.Minute
	return target
}

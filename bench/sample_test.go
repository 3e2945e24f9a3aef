package main

import (
	"errors"
	"math"
	"os"
	"testing"
	"time"
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
	second.fail(errors.New("one"))
	second.fail(errors.New("two"))
	sum.add(&first)
	sum.add(&second)
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
		if got := test.load.done(test.n, test.elapsed); got != test.want {
			t.Errorf("%+v after %d in %v: %v", test.load, test.n, test.elapsed, got)
		}
	}
}

// A worker gives up on a server that answers nothing any more.
func TestFailingLoadEnds(t *testing.T) {
	_, kubeconfig := startFake(t)
	s := session(t, kubeconfig)
	load := Load{Concurrency: 2}
	sample, err := load.Drive(t.Context(), s.Target, func(*Conn, int) (int, error) { return 0, errors.New("gone") })
	if err != nil || sample.Errors != 2*maxConsecutiveErrors || sample.FirstError != "gone" {
		t.Errorf("%v: %+v", err, sample)
	}
}

func TestDriveNeedsServer(t *testing.T) {
	target := &Target{Address: "127.0.0.1:1", TLS: session(t, fakeConfig(t)).Target.TLS, Timeout: time.Minute}
	if _, err := (Load{Concurrency: 2, Count: 1}).Drive(t.Context(), target, nil); err == nil {
		t.Error("no error without a server")
	}
}

func TestParseStat(t *testing.T) {
	const numbers = "S 1 2 3 4 5 6 7 8 9 10 250 50 1 1"
	for stat, want := range map[string]time.Duration{
		"7 (troupe) " + numbers:            3 * time.Second,
		"7 (a (b) c) d) " + numbers:        3 * time.Second,
		"7 (troupe) S 1 2 3":               -1,
		"":                                 -1,
		"7 (x) S 1 2 3 4 5 6 7 8 9 10 a 5": -1,
	} {
		got, err := parseStat([]byte(stat))
		if want < 0 != (err != nil) || err == nil && got != want {
			t.Errorf("%q: %v, %v", stat, got, err)
		}
	}
}

func TestParseStatus(t *testing.T) {
	got, err := parseStatus([]byte("Name:\tx\nVmHWM:\t  9 kB\nVmRSS:\t  2048 kB\n"))
	if err != nil || got != 2<<20 {
		t.Errorf("%d, %v", got, err)
	}
	if _, err := parseStatus([]byte("Name:\tzombie\n")); err == nil {
		t.Error("no error for a process without memory")
	}
}

func TestReadUsage(t *testing.T) {
	one, err := readUsage([]int{os.Getpid()})
	if err != nil || one.Resident == 0 {
		t.Fatalf("%+v, %v", one, err)
	}
	if _, err := readUsage([]int{os.Getpid(), 1 << 30}); err == nil {
		t.Error("no error for a process that is not there")
	}
	if both, err := readUsage([]int{os.Getpid(), os.Getpid()}); err != nil || both.Resident < one.Resident*3/2 {
		t.Errorf("%+v, %v: processes are not added up", both, err)
	}
}

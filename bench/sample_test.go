package main

import (
	"errors"
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
		if got := s.percentile(test.p); got != test.want {
			t.Errorf("p%v of %v = %d, not %d", test.p, test.latencies, got, test.want)
		}
	}
}

func TestSampleArithmetic(t *testing.T) {
	s := Sample{Operations: 200, Bytes: 1000, Elapsed: 4 * time.Second, CPU: minCPU, Etcd: minCPU / 5}
	if s.rate() != 50 || s.cpuPerOperation() != 250 || s.etcdPerOperation() != 50 || s.bytesPerOperation() != 5 {
		t.Errorf("rate %v, CPU %v, of etcd %v, bytes %v", s.rate(), s.cpuPerOperation(), s.etcdPerOperation(), s.bytesPerOperation())
	}
	s.CPU, s.Etcd = s.CPU-1, 0
	empty := Sample{CPU: minCPU}
	if s.cpuPerOperation() != 0 || s.etcdPerOperation() != 0 || empty.cpuPerOperation() != 0 || empty.rate() != 0 || empty.bytesPerOperation() != 0 {
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

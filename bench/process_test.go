package main

import (
	"os"
	"testing"
	"time"
)

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

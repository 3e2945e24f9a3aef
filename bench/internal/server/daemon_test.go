package server

import (
	"github.com/troupe-api/troupe/bench/internal/benchtest"

	"bytes"
	"strings"
	"testing"
)

func TestReadyTarget(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	file, err := LoadTarget(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"ready on https://127.0.0.1:7/ KUBECONFIG=" + kubeconfig:          "127.0.0.1:7",
		"ready, KUBECONFIG=\"" + kubeconfig + "\" at https://127.0.0.1:7": "127.0.0.1:7",
		"KUBECONFIG=" + kubeconfig:                                        file.Address,
	} {
		if target, err := readyTarget(line); err != nil || target.Address != want {
			t.Errorf("%s: %+v, %v", line, target, err)
		}
	}
	for _, line := range []string{"KUBECONFIG=", "KUBECONFIG=/nowhere/x"} {
		if _, err := readyTarget(line); err == nil {
			t.Errorf("no error for %q", line)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var tail tailWriter
	_, _ = tail.Write(bytes.Repeat([]byte("a"), tailSize))
	_, _ = tail.Write([]byte("end"))
	if got := tail.String(); len(got) != tailSize || !strings.HasSuffix(got, "aend") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-4:])
	}
}

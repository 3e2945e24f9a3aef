package crd

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestFormats checks that a string in testdata/formats.txt is valid if and only if kube-apiserver
// 1.35.3 accepts it.
func TestFormats(t *testing.T) {
	file, err := os.ReadFile("testdata/formats.txt")
	if err != nil {
		t.Fatal(err)
	}
	formats := NewFormats(meta.Kubernetes)
	for line := range strings.Lines(string(file)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) != 3 {
			t.Fatalf("%q", line)
		}
		text, err := strconv.Unquote(columns[2])
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		check := formats.Of(columns[0])
		if got := check == nil || check(text); got != (columns[1] == "ok") {
			t.Errorf("%s %q: %t", columns[0], text, got)
		}
	}
}

func TestFormatNames(t *testing.T) {
	for _, c := range []struct {
		naming *meta.Naming
		format string
		known  bool
	}{
		{meta.Kubernetes, "k8s-short-name", true}, {meta.Kubernetes, "platform-short-name", false},
		{meta.Platform, "platform-long-name", true}, {meta.Platform, "k8s-long-name", false},
	} {
		if check := NewFormats(c.naming).Of(c.format); (check != nil) != c.known || c.known && (check("A") || !check("a")) {
			t.Errorf("%s: known %t", c.format, check != nil)
		}
	}
}

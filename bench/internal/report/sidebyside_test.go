package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

func TestSideBySide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.md")
	if err := os.WriteFile(path, []byte("before\n<!-- bench: side by side -->\nold\n<!-- end -->\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newReport(t, "--against=x")
	both := func(name string, one, other time.Duration) {
		r.Add(NewRow(name, "", measured(10_000, one), nil), NewRow(name, NameAgainst, measured(10_000, other), nil))
	}
	both("get", 20*time.Microsecond, 600*time.Microsecond)
	both("list", 100*time.Microsecond, time.Millisecond)
	both("list-protobuf", 100*time.Microsecond, time.Millisecond)
	both("leases", 100*time.Microsecond, time.Millisecond)
	r.Add(NewRow("alone", "", measured(10_000, time.Millisecond), nil))
	r.Add(NewRow("idle", "", nil, &measure.Figure{Value: 20, Unit: "MiB resident"}))
	first := newReport(t, "--against=x")
	first.Add(NewRow("get", "", measured(10_000, time.Second), nil), NewRow("get", NameAgainst, measured(10_000, time.Second), nil)) // measured again later
	if err := WriteSideBySide(path, []*Report{first, r}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(text), "|---|---|---|---|---|---|\n")
	if want := "| get | 20 µs | 600 µs | 30.0 | ≥ 25 | – |\n" +
		"| list | 100 µs | 1000 µs | 10.0 | ≥ 12, **missed** | – |\n" +
		"| list-protobuf | 100 µs | 1000 µs | 10.0 | ≥ 8 | – |\n" +
		"| leases | 100 µs | 1000 µs | 10.0 | – | – |\n" +
		"<!-- end -->\nafter\n"; rows != want {
		t.Errorf("got  %s\nwant %s", rows, want)
	}
}

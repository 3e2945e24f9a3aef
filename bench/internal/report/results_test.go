package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/bench/internal/measure"
	"github.com/troupe-api/troupe/bench/internal/scenario"
	"github.com/troupe-api/troupe/bench/internal/server"
)

func TestAimedRowsAreEveryAim(t *testing.T) {
	all := aims(standardOptions())
	for _, a := range aimedRows {
		if all[a.row] == nil {
			t.Errorf("%s has no aim", a.row)
		}
		if _, found := scenario.WorkloadOf(strings.Fields(a.workload)[0]); !found {
			t.Errorf("%s is measured by no workload %q", a.row, a.workload)
		}
		delete(all, a.row)
	}
	for row := range maps.Keys(all) {
		t.Errorf("%s is not in the table", row)
	}
}

func TestHeadlinesAreAimed(t *testing.T) {
	all := aims(standardOptions())
	for _, name := range headlineRows {
		if all[name] == nil {
			t.Errorf("%s has no aim", name)
		}
	}
}

// The first page tells the few rows that it wants, and nothing else.
func TestFiguresOfTheFirstPage(t *testing.T) {
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "README.md"), filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, []byte("a\n<!-- bench: figures -->\n<!-- end -->\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := savedReport(t).WriteJSON(saved); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteHeadlines(path, []*Report{r}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	want := "a\n<!-- bench: figures -->\n1970-01-01, commit abc, on 2 × CPU.\n\n| | measured | × floor |\n|---|---|---|\n" +
		"| get, 1 KiB object | 15 µs CPU | 1 |\n| update (PUT) | 100 µs CPU | 5 |\n<!-- end -->\nb\n"
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s", err, text)
	}
}

// A report of one row that is met, one that is missed, and one at other sizes.
func savedReport(t *testing.T) *Report {
	t.Helper()
	r := newReport(t)
	r.Origin = &Origin{Began: time.Unix(0, 0).UTC(), Command: "go run ./bench", Commit: "abc", Machine: "2 × CPU"}
	r.Add(NewRow("get", "", measured(10_000, 15*time.Microsecond), nil), NewRow("get", server.NameFloor, measured(10_000, 15*time.Microsecond), nil))
	r.Add(NewRow("update", "", measured(10_000, 100*time.Microsecond), nil), NewRow("update", server.NameFloor, measured(10_000, 20*time.Microsecond), nil))
	r.Add(NewRow("idle", "", nil, &measure.Figure{Value: 20, Unit: "MiB resident"}))
	r.Note("something is smaller")
	return r
}

func TestResultsKeepExplanations(t *testing.T) {
	dir := t.TempDir()
	path, saved := filepath.Join(dir, "RESULTS.md"), filepath.Join(dir, "report.json")
	if err := savedReport(t).WriteJSON(saved); err != nil {
		t.Fatal(err)
	}
	write := func() string {
		t.Helper()
		r, err := ReadReport(saved)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteResults(path, []*Report{r}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := write()
	for _, want := range []string{
		"1970-01-01 00:00 UTC, commit abc, on 2 × CPU:\n  `go run ./bench`",
		"| get, 1 KiB object | ≤ 1.10 × floor | 15 µs CPU | 1 | yes | `--workloads get` |",
		"| update (PUT) | ≤ 4 × floor | 100 µs CPU | 5 | **no** | `--workloads update` |",
		"| create | ≤ 3.30 × floor | not measured | – | – | `--workloads create` |",
		"### update\n<!-- explanation: update -->\nNot explained yet.\n<!-- end -->",
		"| get (floor) | 10000 |", "- something is smaller",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in\n%s", want, first)
		}
	}
	if strings.Contains(first, "### get") || strings.Contains(first, "### create") {
		t.Errorf("a row that is met or not measured is explained:\n%s", first)
	}
	edited := strings.Replace(first, unexplained, "Because of *x*.\n\nAnd of y.", 1) +
		"\n<!-- explanation: get -->\nmet by now\n<!-- end -->\n<!-- explanation: create -->\nnot measured\n<!-- end -->\n"
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	second := write()
	for _, want := range []string{"<!-- explanation: update -->\nBecause of *x*.\n\nAnd of y.\n<!-- end -->", "<!-- explanation: create -->\nnot measured\n<!-- end -->"} {
		if !strings.Contains(second, want) {
			t.Errorf("no %q in\n%s", want, second)
		}
	}
	if strings.Contains(second, "met by now") || second != write() {
		t.Errorf("written again it differs:\n%s", second)
	}
}

func TestCommandLineKeepsTheSecret(t *testing.T) {
	for _, args := range [][]string{{"--user-token", "x1", "--floor"}, {"--user-token=x1", "--floor"}} {
		if line := commandLine(args); strings.Contains(line, "x1") || !strings.HasSuffix(line, "… --floor") {
			t.Error(line)
		}
	}
}

func TestResultsTakeTheLastReport(t *testing.T) {
	old, new := savedReport(t), savedReport(t)
	cpu := 77.0
	new.Rows[2].CPU = &cpu
	text := string(results([]*Report{old, new}, nil))
	if !strings.Contains(text, "77 µs CPU |") || strings.Count(text, "\n| update | ") != 1 {
		t.Error(text)
	}
	other := newReport(t, "--size=10")
	other.Add(NewRow("get", "", measured(10_000, 15*time.Microsecond), nil))
	if text := string(results([]*Report{other}, nil)); !strings.Contains(text, "15 µs CPU, at other sizes | – | – |") {
		t.Error(text)
	}
}

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	old, new := savedReport(t), savedReport(t)
	half := *old.Rows[0].CPU / 2
	new.Rows[0].CPU = &half
	new.Rows = append(new.Rows[:2], new.Rows[3:]...)
	new.Options.Size, new.Options.Naming = 10, ""
	var paths []string
	for i, r := range []*Report{old, new} {
		paths = append(paths, filepath.Join(dir, []string{"old", "new"}[i]))
		if err := r.WriteJSON(paths[i]); err != nil {
			t.Fatal(err)
		}
	}
	for i, into := range []**Report{&old, &new} {
		var err error
		if *into, err = ReadReport(paths[i]); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := Compare(&out, old, new); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"old: abc, 1970-01-01 00:00, 2 × CPU",
		" get 15 µs 7.50 µs 0.50 2 µs 2 µs 1 1 1 1 – – – 0 0 ",
		" idle – – – – – – – – – 20 MiB resident 20 MiB resident 1 0 0 ",
		"note: update is in the old report only",
		`note: the option naming was "platform" and is not set`,
		"note: the option sizeBytes was 1024 and is 10",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if err := os.WriteFile(paths[0], []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadReport(paths[0]); err == nil || !strings.Contains(err.Error(), "is not a report") {
		t.Errorf("a file that is no report: %v", err)
	}
}

func TestPlot(t *testing.T) {
	c := &measure.Curve{Name: "x", Title: "A < B", Of: "object", Series: []*measure.Series{
		{Name: "one", Points: []measure.Point{{Size: 1_000, CPU: 20}, {Size: 10_000, CPU: 21}, {Size: 100_000, CPU: 25}}},
		{Name: "two", Points: []measure.Point{{Size: 1_000, CPU: 10}, {Size: 10_000, CPU: 100}, {Size: 100_000, CPU: 1_000}}},
	}}
	text := PlotCurve(c)
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
	for _, want := range []string{">A &lt; B<", ">100,000 objects<", ">1 ms<", ">25 µs<", ">two<", "prefers-color-scheme: dark"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	p := curvePlot{c}
	x, y := p.axes()
	if y.low != 0 || y.high != 3 || y.at(1) != plotHeight-plotBottom || y.at(1_000) != plotTop || x.at(1_000) <= plotLeft {
		t.Errorf("axes %+v %+v", x, y)
	}
	if p.endsBelow(c.Series[1]) || !p.endsBelow(c.Series[0]) {
		t.Error("the values of the upper line must stand above it")
	}
	empty := PlotCurve(&measure.Curve{Title: "nothing"})
	if !bytes.Contains(empty, []byte("</svg>")) {
		t.Errorf("%s", empty)
	}
}

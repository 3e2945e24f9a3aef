package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/benchtest"
	"github.com/troupe-api/troupe/bench/internal/report"
)

// quick are flags that keep a whole run short.
func quick(t *testing.T, more ...string) []string {
	return append([]string{"--size=64", "--concurrency=2", "--count=10", "--objects=20", "--cold-objects=5",
		"--scale=0.00002", "--watchers=2", "--burst=3", "--idle-watchers=2", "--settle=1ms", "--temp-dir", t.TempDir()}, more...)
}

// configMapWorkloads are the workloads that a server of ConfigMaps alone can be driven with.
var configMapWorkloads = []string{"idle-watchers", "create", "get", "update", "merge-patch", "apply", "apply-pod", "delete", "list", "list-chunked", "get-protobuf", "list-protobuf",
	"create-protobuf", "update-protobuf", "merge-patch-protobuf", "apply-protobuf", "delete-protobuf", "watch-fanout-protobuf",
	"watch-fanout", "durable-create", "hot-object", "cold-start", "million"}

// A run that starts its own daemon, with the floor.
func TestRunFreshDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	var out, log bytes.Buffer
	args := quick(t, "--start", os.Args[0], "--json", path, "--workloads", strings.Join(configMapWorkloads, ","))
	if code := run(args, nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &log, &out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report report.Report
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range report.Rows {
		rows[row.Title()] = true
		if row.Target == "" && strings.Contains("get create update merge-patch delete list", row.Name) && row.P50 == 0 {
			t.Errorf("%s has no latency", row.Name)
		}
	}
	for _, title := range []string{"idle", "idle-watchers", "create", "create (floor)", "get", "get (floor)", "update", "update (floor)",
		"merge-patch", "merge-patch (floor)", "apply", "apply (floor)", "apply-pod", "apply-pod, unchanged", "apply-pod, repeated", "delete", "delete (floor)", "list", "list (floor)", "list-chunked", "list-chunked (floor)", "get-protobuf", "get-protobuf (floor)", "list-protobuf", "list-protobuf (floor)",
		"watch-fanout", "watch-fanout (floor)", "watch-fanout, bursts", "create-protobuf", "update-protobuf (floor)", "merge-patch-protobuf", "apply-protobuf",
		"delete-protobuf", "watch-fanout-protobuf", "watch-fanout-protobuf, bursts", "bare sync", "durable-create",
		"hot-object", "million, create", "million, update", "million, pause", "million, memory", "million, recovery", "cold start, empty", "memory, empty", "cold start, full", "memory, full"} {
		if !rows[title] {
			t.Errorf("no row %q in the report", title)
		}
		if !strings.Contains(out.String(), "\n"+title+" ") {
			t.Errorf("no row %q in the table", title)
		}
	}
	left, err := os.ReadDir(report.Options.TempDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunAgainst(t *testing.T) {
	_, one := benchtest.Start(t)
	other, two := benchtest.Start(t)
	b := &Bench{Log: &bytes.Buffer{}}
	if err := b.Options.Parse(quick(t, "--kubeconfig", one, "--against", two, "--workloads", "get,watch-fanout", "--floor=false"), io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, row := range b.Report.Rows {
		titles = append(titles, row.Title())
	}
	if got, want := strings.Join(titles, ";"), "get;get (against);watch-fanout;watch-fanout (against);watch-fanout, bursts;watch-fanout, bursts (against)"; got != want {
		t.Errorf("rows are %s", got)
	}
	if other.Count(http.MethodGet) == 0 || !strings.Contains(out.String(), "× against") {
		t.Errorf("the second server was not measured:\n%s", &out)
	}
}

// The daemon of --start keeps its state in an etcd, with those that workloads start themselves; that of --against-start does
// not. Both programs count, and nothing is left of them.
func TestRunOnEtcd(t *testing.T) {
	etcd := filepath.Join(t.TempDir(), "etcd")
	if err := os.WriteFile(etcd, []byte("#!/bin/sh\necho $$ >> "+etcd+".pids\nexec "+os.Args[0]+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := &Bench{Log: &bytes.Buffer{}}
	args := quick(t, "--start", os.Args[0], "--start-etcd", etcd, "--against-start", os.Args[0], "--workloads", "get,cold-start", "--floor=false")
	if err := b.Options.Parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := b.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if on, beside := b.targets[0], b.targets[1]; len(on.Processes) != 2 || len(on.Etcd) != 1 || on.Etcd[0] != on.Processes[1] || len(beside.Processes) != 1 || beside.Etcd != nil {
		t.Errorf("processes %v with %v of etcd, beside %v with %v", on.Processes, on.Etcd, beside.Processes, beside.Etcd)
	}
	b.Report.Options = &b.Options
	if err := b.measure(t.Context()); err != nil {
		t.Error(err)
	}
	b.close()
	text, err := os.ReadFile(etcd + ".pids")
	if err != nil {
		t.Fatal(err)
	}
	started := strings.Fields(string(text))
	if want := 1 + 5 + 2; len(started) != want { // that of get, of each empty start, of filling, and of the start after it
		t.Errorf("%d etcds were started, want %d", len(started), want)
	}
	for _, pid := range started {
		if _, err := os.Stat(filepath.Join("/proc", pid)); err == nil {
			t.Errorf("etcd %s goes on", pid)
		}
	}
	left, err := os.ReadDir(b.Options.TempDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunReportsFailures(t *testing.T) {
	fake, kubeconfig := benchtest.Start(t)
	fake.Fault = func(r *http.Request) int {
		switch r.Method {
		case http.MethodPut:
			return http.StatusInternalServerError
		case http.MethodDelete:
			return http.StatusForbidden
		}
		return 0
	}
	var out, log bytes.Buffer
	code := run(quick(t, "--kubeconfig", kubeconfig, "--workloads", "update", "--floor=false"), nil, &out, &log)
	if code != 1 || !strings.Contains(log.String(), "10 operations failed") {
		t.Errorf("exit code %d, log:\n%s", code, &log)
	}
	for _, want := range []string{"first error of update: PUT", "note: clean-up of"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestRunFaults(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":             {[]string{"--help"}, 0, "--idle-watchers"},
		"unknown flag":     {[]string{"--nonsense"}, 2, "nonsense"},
		"unknown workload": {[]string{"--workloads", "get,dance"}, 2, `"dance"`},
		"zero":             {[]string{"--size=0", "--watchers=-1"}, 2, "--watchers must be positive"},
		"pid alone":        {[]string{"--pid=1"}, 2, "--pid needs --kubeconfig"},
		"half a CA":        {[]string{"--user-ca=x"}, 2, "--user-ca-key"},
		"one report":       {[]string{"--compare", "x"}, 2, "--compare needs two"},
		"report alone":     {[]string{"x"}, 2, "saved reports are for --compare"},
		"profile of two":   {[]string{"--profile=x", "--workloads=get,update"}, 2, "--profile is for one"},
		"no report":        {[]string{"--compare", "/nowhere/x", "/nowhere/y"}, 1, "/nowhere/x"},
		"cold start":       {[]string{"--kubeconfig=x", "--workloads=cold-start"}, 2, "cold-start needs --binary"},
		"no kubeconfig":    {[]string{"--kubeconfig=/nowhere/x"}, 1, "/nowhere/x"},
		"no binary":        {[]string{"--start=/nowhere/x"}, 1, "/nowhere/x"},
		"etcd, remote":     {[]string{"--start-etcd=x", "--kubeconfig=y", "--workloads=get"}, 2, "--start-etcd needs --start"},
		"no etcd":          {[]string{"--start", os.Args[0], "--start-etcd=/nowhere/x"}, 1, "/nowhere/x"},
		"etcd ends":        {[]string{"--start", os.Args[0], "--start-etcd=false"}, 1, "is not ready: it has ended"},
		"daemon refuses":   {[]string{"--start", os.Args[0], "--start-arg=--refuse"}, 1, "refused to start"},
	} {
		var out, log bytes.Buffer
		if code := run(test.args, nil, &out, &log); code != test.code || !strings.Contains(log.String(), test.want) {
			t.Errorf("%s: exit code %d, log:\n%s", name, code, &log)
		}
	}
}

// Every run has servers of its own.
func TestRunsAreFresh(t *testing.T) {
	_, kubeconfig := benchtest.Start(t)
	var out, log bytes.Buffer
	if code := run(quick(t, "--kubeconfig", kubeconfig, "--workloads", "get", "--runs=2"), nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &log, &out)
	}
	if !strings.Contains(log.String(), "run 2 of 2") || strings.Count(out.String(), "\nget ") != 2 { // the server's and the floor's
		t.Errorf("%s%s", &log, &out)
	}
}

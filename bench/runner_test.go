package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func quick(t *testing.T, more ...string) []string {
	return append([]string{"--size=64", "--concurrency=2", "--count=10", "--objects=20", "--scale=0.00002",
		"--watchers=2", "--idle-watchers=2", "--settle=1ms", "--temp-dir", t.TempDir()}, more...)
}

func checkEmpty(t *testing.T, o *Options) {
	t.Helper()
	left, err := os.ReadDir(o.TempDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRunFreshDaemon runs all workloads except the soak on a new daemon and on the floor.
func TestRunFreshDaemon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	var names []string
	for _, name := range workloadNames(true) {
		if name != "soak" {
			names = append(names, name)
		}
	}
	var out, log bytes.Buffer
	if code := run(quick(t, "--start", os.Args[0], "--json", path, "--workloads", strings.Join(names, ",")), nil, &out, &log); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, &log, &out)
	}
	report, err := readReport(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range report.Rows {
		rows[row.title()] = true
		if row.Operations == 0 && row.Figure == nil {
			t.Errorf("%s has neither operations nor a figure", row.title())
		}
	}
	for _, title := range []string{"idle", "idle-watchers", "create", "create (floor)", "get", "get (floor)", "update", "update (floor)",
		"merge-patch", "merge-patch (floor)", "apply", "apply (floor)", "apply-pod", "apply-pod, unchanged", "apply-pod-protobuf, repeated", "delete (floor)",
		"list (floor)", "list-chunked (floor)", "get-protobuf (floor)", "list-protobuf", "watch-fanout (floor)", "watch-fanout-protobuf, bursts",
		"bare sync", "durable-create", "hot-object", "leases", "leases-protobuf", "pod-life", "pod-life-protobuf", "custom-resource",
		"overload, before", "overload, burst", "overload, after", "mixed", "mixed, get", "mixed, events", "mixed-protobuf, get",
		"cluster", "cluster, create", "selector, indexed field", "selector, label", "growth, get, 20 objects", "growth, event, 1 watchers",
		"growth, get, 1 RoleBindings", "growth, list by other field, 6 Pods", "cold start, empty", "memory, empty", "cold start, full", "memory, full",
		"definitions, created", "definitions, memory", "definitions, OpenAPI index", "definitions, start", "fork", "fork, memory", "validate",
		"million, create", "million, update", "million, pause", "million, memory", "million, recovery", "million, memory recovered"} {
		if !rows[title] {
			t.Errorf("no row %q in the report", title)
		}
		if !strings.Contains(out.String(), "\n"+title+" ") {
			t.Errorf("no row %q in the table", title)
		}
	}
	checkEmpty(t, report.Options)
}

// TestRunAgainst checks that the order of measurement alternates, and that the rows are in the
// order of the flags.
func TestRunAgainst(t *testing.T) {
	var order []string
	servers := map[string]*proxy{"one": startProxy(t), "two": startProxy(t)}
	for name, p := range servers {
		p.fault = func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/configmaps/item-") && (len(order) == 0 || order[len(order)-1] != name) {
				order = append(order, name)
			}
			return 0
		}
	}
	var out, log bytes.Buffer
	code := run(quick(t, "--kubeconfig", servers["one"].kubeconfig, "--against", servers["two"].kubeconfig, "--workloads", "get,update", "--floor=false", "--runs=2"), nil, &out, &log)
	if code != 0 || !strings.Contains(log.String(), "run 2 of 2") {
		t.Fatalf("exit code %d\n%s%s", code, &log, &out)
	}
	if got, want := strings.Join(order, " "), "one two one two one two one"; got != want {
		t.Errorf("measured %s, not %s", got, want)
	}
	var titles []string
	for _, line := range strings.Split(out.String(), "\n") {
		title, _, _ := strings.Cut(line, "  ")
		titles = append(titles, title)
	}
	if got, want := strings.Join(titles, ";"), "workload;get;get (against);update;update (against);"; got != want {
		t.Errorf("rows are %s", got)
	}
}

// writeScript writes a shell script that replaces a program, and returns its path.
func writeScript(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRunOnEtcd checks that each daemon of --start has its own etcd, and that both processes are
// measured and then stopped. Connections authenticate as the users of --users. The etcd is a fake
// that the daemons do not use.
func TestRunOnEtcd(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	etcd := writeScript(t, "etcd", "echo $$ >> "+pids+"\nexec "+os.Args[0]+` "$@"`)
	start := writeScript(t, "troupe", `for a; do shift; case $a in --etcd-servers|http:*) ;; *) set -- "$@" "$a";; esac; done; exec `+os.Args[0]+` "$@"`)
	b := &Bench{Log: io.Discard}
	args := quick(t, "--start", start, "--start-etcd", etcd, "--against-start", os.Args[0], "--workloads", "get,definitions", "--floor=false", "--users=3")
	if err := b.Options.parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if on, beside := b.sides[0].target, b.sides[1].target; len(on.Processes) != 2 || len(on.Etcd) != 1 || on.Etcd[0] != on.Processes[0] || len(beside.Processes) != 1 || beside.Etcd != nil {
		t.Errorf("processes %v with %v of etcd, beside %v with %v", on.Processes, on.Etcd, beside.Processes, beside.Etcd)
	}
	for _, s := range b.sides {
		if s.target.TLS.Certificates != nil || s.target.users.next.Load() < s.target.users.total {
			t.Errorf("%s does not use all users", s.target.Address)
		}
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	started := strings.Fields(string(text))
	if want := 1 + 2; len(started) != want { // one start for get and two for definitions
		t.Errorf("%d etcds were started, want %d", len(started), want)
	}
	for _, pid := range started {
		if _, err := os.Stat(filepath.Join("/proc", pid)); err == nil {
			t.Errorf("etcd %s goes on", pid)
		}
	}
	checkEmpty(t, &b.Options)
}

// TestKubernetesEnds checks that the error includes the output of a kube-apiserver that exits
// early, and that its etcd is stopped.
func TestKubernetesEnds(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	etcd := writeScript(t, "etcd", "echo $$ > "+pid+"\nexec "+os.Args[0]+` "$@"`)
	_, err := startKubernetes(writeScript(t, "apiserver", "echo no such flag; exit 1"), etcd, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "it has ended\nno such flag") {
		t.Errorf("error %v", err)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(text)))); err == nil {
		t.Error("etcd goes on")
	}
}

func TestRunReportsFailures(t *testing.T) {
	p := startProxy(t)
	p.fault = func(r *http.Request) int {
		switch r.Method {
		case http.MethodPut:
			return http.StatusInternalServerError
		case http.MethodDelete:
			return http.StatusForbidden
		}
		return 0
	}
	var out, log bytes.Buffer
	code := run(quick(t, "--kubeconfig", p.kubeconfig, "--workloads", "update", "--floor=false"), nil, &out, &log)
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
		"one report":       {[]string{"--compare", "x"}, 2, "--compare needs two"},
		"report alone":     {[]string{"x"}, 2, "saved reports need --compare"},
		"profile of two":   {[]string{"--profile=x", "--workloads=get,update"}, 2, "--profile needs one run"},
		"no report":        {[]string{"--compare", "/nowhere/x", "/nowhere/y"}, 1, "/nowhere/x"},
		"cold start":       {[]string{"--kubeconfig=x", "--workloads=cold-start"}, 2, "cold-start needs --start"},
		"no kubeconfig":    {[]string{"--kubeconfig=/nowhere/x"}, 1, "/nowhere/x"},
		"no binary":        {[]string{"--start=/nowhere/x"}, 1, "/nowhere/x"},
		"etcd, remote":     {[]string{"--start-etcd=x", "--kubeconfig=y", "--workloads=get"}, 2, "--start-etcd needs --start"},
		"two others":       {[]string{"--against=x", "--against-start=y"}, 2, "exclude each other"},
		"other kinds":      {[]string{"--against-kube-apiserver=x"}, 2, "needs --naming kubernetes"},
		"no etcd":          {[]string{"--start", os.Args[0], "--start-etcd=/nowhere/x"}, 1, "/nowhere/x"},
		"etcd ends":        {[]string{"--start", os.Args[0], "--start-etcd=false"}, 1, "is not ready: it has ended"},
		"daemon refuses":   {[]string{"--start", os.Args[0], "--start-arg=--refuse"}, 1, "unknown flag: --refuse"},
	} {
		var out, log bytes.Buffer
		if code := run(test.args, nil, &out, &log); code != test.code || !strings.Contains(log.String(), test.want) {
			t.Errorf("%s: exit code %d, log:\n%s", name, code, &log)
		}
	}
}

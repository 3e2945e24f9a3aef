package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
)

func read(t *testing.T, text string, at time.Time) *scrape {
	t.Helper()
	return must.Get(readScrape(strings.NewReader(text), at))(t)
}

func TestStatusOfTwoScrapes(t *testing.T) {
	begin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	before := read(t, `# HELP troupe_info x
troupe_info{version="1.2",naming="platform"} 1
apiserver_request_total{verb="GET",code="200"} 100
apiserver_request_total{verb="GET",code="429"} 0
troupe_commits_total 1000
troupe_commit_batches_total 100
troupe_journal_sync_total 100
troupe_journal_sync_seconds_total 1
troupe_turns_total{resource="pods"} 10
troupe_turn_seconds_total{resource="pods"} 0.001
`, begin)
	after := read(t, `troupe_info{version="1.2",naming="platform"} 1
troupe_uptime_seconds 3723.5
apiserver_request_total{verb="GET",code="200"} 300
apiserver_request_total{verb="GET",code="429"} 20
apiserver_request_total{verb="PUT",code="503"} 4
troupe_commits_total 1900
troupe_commit_batches_total 200
troupe_commit_batch_size_max 212
troupe_journal_sync_total 200
troupe_journal_sync_seconds_total 1.12
troupe_journal_bytes 1536
process_resident_memory_bytes 137363456
process_open_fds 12
process_max_fds 1024
apiserver_current_inflight_requests{request_kind="readOnly"} 3
apiserver_current_inflight_requests{request_kind="mutating"} 21
troupe_objects{resource="pods"} 1234567
troupe_objects{resource="roles.rbac.authorization.platform.io"} 5
troupe_objects{resource="secrets"} 0
troupe_history_bytes{resource="pods"} 2048
troupe_turns_total{resource="pods"} 30
troupe_turn_seconds_total{resource="pods"} 0.003
troupe_turn_seconds_max{resource="pods"} 1.5
troupe_turn_seconds_max{resource="secrets"} 0.002
troupe_turn_seconds_max{resource="nodes"} 0
`, begin.Add(2*time.Second))
	var out bytes.Buffer
	p := statusReport{server: "https://h:1", before: before, after: after}
	must.Succeed(t, p.summary(&out))
	must.Succeed(t, p.collections(&out, 1))
	want := `server    https://h:1  troupe 1.2  naming platform  up 1h2m3s
objects   1,234,572 in 3 collections  at version 0
requests  112/s  at work on 3 reads, 21 writes  refused as too many 10/s  failed 2/s
watches   0 open  0 events/s
commits   450/s in 50 batches/s (9.0 a batch, most 212)  waiting 0
sync      1.2ms each  batch 0s each
disk      journal 1.5 KiB in 0 files  snapshots 0 B, 0 failed
memory    131 MiB resident  history 2.0 KiB  0 goroutines  12 of 1,024 files open
actors    0 awake  waiting messages 0  panics 0  restarts 0
slowest   1.5s for one of pods, 2ms for one of secrets

COLLECTION  OBJECTS    WATCHES  HISTORY  WRITES/S  MEAN   LONGEST
pods        1,234,567  0        2.0 KiB  10        100µs  1.5s
and 1 more
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func has(s *scrape, name string) bool {
	_, ok := s.samples[name]
	return ok
}

func TestStatusNamesRealSeries(t *testing.T) {
	c := daemon.Default()
	c.DataDir, c.Serving.SecurePort, c.Journal.Sync = t.TempDir(), 0, "none"
	d, err := daemon.New(c, io.Discard)
	if err == nil {
		err = d.Start()
	}
	must.Succeed(t, err)
	defer func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("KUBECONFIG", d.Kubeconfig())
	r := must.Get(loadDaemonClient(root(), ""))(t)
	if _, err := r.scrape(t.Context()); err != nil { // counts as a request, too
		t.Fatal(err)
	}
	found := must.Get(r.scrape(t.Context()))(t)
	for _, name := range strings.Fields(`troupe_uptime_seconds troupe_resource_version troupe_watchers troupe_watch_events_total
		troupe_commits_total troupe_commit_batches_total troupe_commit_batch_size_max troupe_commit_queue_depth troupe_commit_seconds_total
		troupe_journal_sync_total troupe_journal_sync_seconds_total troupe_journal_bytes troupe_journal_segments
		troupe_snapshot_bytes troupe_snapshot_failures_total process_resident_memory_bytes go_goroutines process_open_fds process_max_fds
		troupe_object_actors troupe_mailbox_depth troupe_actor_panics_total troupe_actor_restarts_total`) {
		if _, ok := found.samples[name]; !ok {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range strings.Fields(`troupe_objects troupe_collection_watchers troupe_history_bytes troupe_turns_total
		troupe_turn_seconds_total troupe_turn_seconds_max`) {
		if _, ok := found.samples[name+`{resource="namespaces"}`]; !ok {
			t.Errorf("no %s of namespaces", name)
		}
	}
	for _, kind := range []string{"readOnly", "mutating"} {
		if name := `apiserver_current_inflight_requests{request_kind="` + kind + `"}`; !has(found, name) {
			t.Errorf("no %s", name)
		}
	}
	if got := found.sum("apiserver_request_total", `code="200"`); got < 1 {
		t.Errorf("%v requests were answered", got)
	}
	run := func(source string) {
		for _, args := range [][]string{{"doctor"}, {"backup", filepath.Join(t.TempDir(), "backup")}, {"status", "--interval", "1ms"}, {"compact"}} {
			c := root()
			c.SetArgs(args)
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			if err := c.Execute(); err != nil {
				t.Errorf("%s with %s: %v", args[0], source, err)
			}
		}
	}
	run("KUBECONFIG")
	home, config := t.TempDir(), must.Get(os.ReadFile(d.Kubeconfig()))(t)
	must.Succeed(t, errors.Join(os.Mkdir(filepath.Join(home, ".kube"), 0o700), os.WriteFile(filepath.Join(home, ".kube", "config"), config, 0o600)))
	t.Setenv("KUBECONFIG", "")
	t.Setenv("HOME", home)
	t.Chdir(t.TempDir())
	run("~/.kube/config")
	var out bytes.Buffer
	if err := r.status(t.Context(), &out, time.Millisecond, 0); err != nil || !strings.Contains(out.String(), "naming platform") || !strings.Contains(out.String(), "\nnamespaces ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

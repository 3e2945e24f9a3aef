package scenario

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/bench/internal/benchtest"
	"github.com/troupe-api/troupe/cmd/troupe/daemon"

	"io"
	"os"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// session is for a fake, with bounds that end quickly.
func session(t *testing.T, kubeconfig string) *Session {
	t.Helper()
	s := &Session{Note: func(format string, args ...any) { t.Logf(format, args...) }}
	args := []string{"--kubeconfig", kubeconfig, "--size=64", "--concurrency=4", "--count=24", "--duration=1m",
		"--objects=1100", "--cold-objects=20", "--watchers=5", "--burst=8", "--idle-watchers=6",
		"--binary", os.Args[0], "--settle=1ms", "--scale=0.002", "--temp-dir", t.TempDir()}
	if err := s.Parse(args, io.Discard); err != nil {
		t.Fatal(err)
	}
	target, err := server.LoadTarget(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	target.Timeout, target.Processes = s.Request, []int{os.Getpid()}
	s.Target = target
	return s
}

func workload(t *testing.T, name string) Workload {
	t.Helper()
	w, found := WorkloadOf(name)
	if !found {
		t.Fatalf("no workload %q", name)
	}
	return w
}

// row returns the result of a name.
func row(t *testing.T, results []Result, name string) Result {
	t.Helper()
	for _, r := range results {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no row %q in %v", name, results)
	return Result{}
}

func fakeConfig(t *testing.T) string {
	t.Helper()
	_, kubeconfig := benchtest.Start(t)
	return kubeconfig
}

// startTroupe serves the real daemon in this process, for one test, and returns a session for it.
func startTroupe(t *testing.T) *Session {
	t.Helper()
	identity, err := server.NewIdentity(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort = t.TempDir()+"/data", 0
	config.Authentication.ClientCAFile, config.Authentication.TokenAuthFile = identity.AuthorityFile(), identity.TokenFile()
	config.Journal.Sync = "none" // what is stored here ends with the test
	d, err := daemon.New(config, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := d.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	s := session(t, d.Kubeconfig())
	s.Identity, s.Naming = identity, "platform"
	return s
}

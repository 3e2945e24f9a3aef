package storage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

// A killedMigration is one run of troupe migrate to a new target, which is killed at a system call.
type killedMigration struct {
	migrateCluster
	*daemon.Migration
	call, when string
	toEtcd     bool
}

// run runs the command, and under strace if tracer is true.
func (k killedMigration) run(tracer bool) (killed bool, output string) {
	k.t.Helper()
	from, to := "etcd", k.DataDir
	if k.toEtcd {
		from, to = to, from
	}
	arguments := []string{client.TroupeBinary(k.t), "migrate", "--from", from, "--to", to, "--etcd-servers", k.Etcd.Servers[0], "--etcd-prefix", k.Etcd.Prefix, "--encryption-provider-config", k.encrypt}
	if tracer {
		arguments = append([]string{"strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=" + k.call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%s", k.call, k.when)}, arguments...)
	}
	out, err := exec.Command(arguments[0], arguments[1:]...).CombinedOutput()
	exit, _ := errors.AsType[*exec.ExitError](err)
	if err != nil && exit == nil {
		k.t.Fatal(err)
	}
	return exit != nil && !exit.Exited(), string(out)
}

// again runs the migration again.
func (k killedMigration) again() error {
	migrate := k.ToDataDir
	if k.toEtcd {
		migrate = k.ToEtcd
	}
	_, err := migrate(k.t.Context())
	return err
}

// refused checks that an incomplete target does not open.
func (k killedMigration) refused() {
	k.t.Helper()
	if _, err := os.Stat(k.DataDir); k.toEtcd || errors.Is(err, os.ErrNotExist) {
		return // Check has opened etcd
	}
	if j, err := persist.Open(k.DataDir, persist.Options{}); err == nil || !strings.Contains(err.Error(), "run it again") {
		k.t.Errorf("%s %s: opened %v with %v", k.call, k.when, j, err)
	}
}

// TestMigrationIsKilled kills troupe migrate at system calls, in both directions. The target must
// then be complete or not open, and the next run must complete it or name --check. The source must
// keep its objects.
func TestMigrationIsKilled(t *testing.T) {
	client.NeedTool(t, "strace")
	if reason := untraceable(); reason != "" {
		t.Skipf("this machine traces nothing (%s): the same in memory are persist.TestRestoreCrash and persist/etcd.TestFillIsKilled", reason)
	}
	cluster := migrateCluster{t, etcdtest.Start(t, 1), encryptionConfig(t)}
	source := filepath.Join(t.TempDir(), "source")
	s := cluster.serve(source, false)
	cluster.fill(s)
	want := cluster.state(s)
	s.Stop(t)
	cluster.copied(cluster.migration(source).ToEtcd(t.Context()))
	kills, incomplete := 0, 0
	for _, toEtcd := range []bool{true, false} {
		calls := slices.Concat(diskCalls, []string{"write", "mkdirat"})
		for n := range client.Rounds(t, 2*len(calls), 2) {
			k := killedMigration{cluster, cluster.migration(source), calls[n%len(calls)], fmt.Sprint(n/len(calls) + 1), toEtcd}
			if k.Etcd.Prefix = etcd.DefaultPrefix; toEtcd {
				k.Etcd.Prefix = fmt.Sprint("/target-", n)
			} else {
				k.DataDir = filepath.Join(t.TempDir(), "target")
			}
			killed, out := k.run(true)
			_, differences, err := k.Check(t.Context(), t.Output())
			complete := err == nil
			switch {
			case differences > 0 || !killed && !complete:
				t.Errorf("%s %s: %d differences, killed: %v, %v\n%s", k.call, k.when, differences, killed, err, out)
			case killed:
				kills++
			}
			if !complete {
				incomplete++
				k.refused()
			}
			switch err := k.again(); {
			case !complete:
				must.Succeed(t, err)
				if _, differences, err := k.Check(t.Context(), t.Output()); err != nil || differences > 0 {
					t.Errorf("%s %s: again: %d differences, %v", k.call, k.when, differences, err)
				}
			case !errors.Is(err, persist.ErrNotEmpty) && !errors.Is(err, etcd.ErrNotEmpty):
				t.Errorf("%s %s: again: %v", k.call, k.when, err)
			}
			if n == 0 {
				if _, out := k.run(false); !strings.Contains(out, "--check") {
					t.Errorf("into a complete target: %s", out)
				}
			}
		}
	}
	if incomplete < 8 {
		t.Errorf("only %d migrations were incomplete", incomplete)
	}
	for onEtcd, dir := range map[bool]string{false: source, true: t.TempDir()} {
		s := cluster.serve(dir, onEtcd)
		cluster.holds(s, want)
		s.Stop(t)
	}
	client.Figures(t, "%d migrations killed, %d of them incomplete", kills, incomplete)
}

package etcd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

func (m *member) snapshot() error {
	m.mu.Lock()
	at, state := m.upTo, maps.Clone(m.state)
	m.mu.Unlock()
	return m.Snapshot(at, 0, func(yield func(persist.Item) bool) error {
		for _, key := range slices.Sorted(maps.Keys(state)) {
			if c := state[key]; !yield(persist.Item{Key: key, Value: c.Value, Revision: c.Revision, Err: c.Err}) {
				break
			}
		}
		return nil
	})
}

type secretly struct{ pad byte }

func (secretly) Transforms(key string) bool { return strings.HasPrefix(key, "/secret/") }
func (secretly) Check(string) error         { return nil }

func (s secretly) Encode(b []byte, at persist.Place, value []byte) []byte {
	for _, c := range value {
		if s.Transforms(at.Key) {
			c ^= s.pad
		}
		b = append(b, c)
	}
	return b
}

func (s secretly) Decode(at persist.Place, stored []byte) ([]byte, error) {
	return s.Encode(nil, at, stored), nil
}

// TestLocalCopy checks that a log with a local copy recovers the same state as a log without one.
// It must read only missing values and ignore an invalid copy.
func TestLocalCopy(t *testing.T) {
	t.Parallel()
	const size = 2000 // size of a value
	for _, c := range []struct {
		name string
		// meanwhile runs while no log uses the copy. It may change the options of the next log.
		meanwhile func(t *testing.T, s *etcdtest.Cluster, dir string, o *Options, other func() *member)
		values    int    // values read from the servers; -1: all
		keys      int    // keys requested; -1: all
		reason    string // logged reason
	}{
		{"nothing", func(*testing.T, *etcdtest.Cluster, string, *Options, func() *member) {}, 0, 0, ""},
		{"changes", func(t *testing.T, _ *etcdtest.Cluster, _ string, _ *Options, other func() *member) {
			change(t, other())
		}, 0, 0, ""},
		{"compacted beyond it", func(t *testing.T, s *etcdtest.Cluster, _ string, _ *Options, other func() *member) {
			m := other()
			change(t, m)
			compact(t, s, m)
		}, 3, 63, ""},
		{"compacted beyond many changes", func(t *testing.T, s *etcdtest.Cluster, _ string, _ *Options, other func() *member) {
			m := other()
			for i := range 30 {
				key := fmt.Sprintf("/c/n/%02d", i*2)
				same(t, key, m.append(put(key, strings.Repeat("z", size), at(key, m.revision(key)))), "ok")
			}
			compact(t, s, m)
		}, -1, -1, ""},
		{"a flipped bit", func(t *testing.T, _ *etcdtest.Cluster, dir string, _ *Options, _ func() *member) {
			damage(t, dir, ".buntdb", func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, -1, -1, "wrong checksum"},
		{"a file that is cut", func(t *testing.T, _ *etcdtest.Cluster, dir string, _ *Options, _ func() *member) {
			damage(t, dir, ".buntdb", func(b []byte) []byte { return b[:len(b)/2] })
		}, -1, -1, "bytes long instead of"},
		{"a manifest of something else", func(t *testing.T, _ *etcdtest.Cluster, dir string, _ *Options, _ func() *member) {
			damage(t, dir, ".manifest", func([]byte) []byte { return []byte("{}\n") })
		}, -1, -1, "damaged"},
		{"another prefix", func(_ *testing.T, _ *etcdtest.Cluster, _ string, o *Options, other func() *member) {
			o.Prefix = "/elsewhere"
			other()
		}, -1, -1, "another etcd, prefix or store"},
		{"another etcd", func(t *testing.T, _ *etcdtest.Cluster, _ string, o *Options, other func() *member) {
			o.Endpoints = etcdtest.Start(t, 1).URLs()
			change(t, other())
		}, -1, -1, "another etcd, prefix or store"},
		{"another store below the prefix", func(t *testing.T, s *etcdtest.Cluster, _ string, _ *Options, other func() *member) {
			must.Get(s.Client().Delete(context.Background(), "/troupe/", clientv3.WithPrefix()))(t)
			other()
		}, -1, -1, "another etcd, prefix or store"},
		{"an encryption of other resources", func(_ *testing.T, _ *etcdtest.Cluster, _ string, o *Options, _ func() *member) {
			o.Transformer = secretly{1}
		}, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cluster := etcdtest.Start(t, 1)
			dir := t.TempDir()
			o := Options{Endpoints: cluster.URLs(), CopyDir: dir}
			first := open(t, o)
			for i := range 60 {
				key := fmt.Sprintf("/c/n/%02d", i)
				same(t, key, first.append(put(key, strings.Repeat("x", size), at(key, 0))), "ok")
			}
			must.Succeed(t, first.snapshot())
			must.Succeed(t, first.Close())
			c.meanwhile(t, cluster, dir, &o, func() *member {
				o := o
				o.CopyDir = ""
				return open(t, o)
			})
			var log bytes.Buffer
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			again := open(t, o)
			read, keys := int(again.stats.bytesRead.Load())/size, int(again.stats.keysRead.Load())
			o.CopyDir = ""
			plain := open(t, o)
			same(t, "the state", again.text(), plain.text())
			same(t, "the history", commitsText(again.history), commitsText(plain.history))
			want := c.values
			if want < 0 {
				for _, commit := range plain.state {
					want += len(commit.Value) / size
				}
				want++
			}
			if read < want || read > want+1 { // the keys add some bytes
				t.Errorf("%d values were read, want %d", read, want)
			}
			if c.keys >= 0 && keys != c.keys || c.keys < 0 && keys < len(plain.state) {
				t.Errorf("%d keys were asked for, want %d (of %d)", keys, c.keys, len(plain.state))
			}
			if !strings.Contains(log.String(), c.reason) || c.reason == "" && strings.Contains(log.String(), "not used") {
				t.Errorf("the log says\n%s\nwant %q", log.String(), c.reason)
			}
			same(t, "a write afterwards", again.append(put("/c/n/new", "1", at("/c/n/new", again.revision("/c/n/new")))), "ok")
			must.Succeed(t, again.snapshot())
			onlyOneCopy(t, dir)
		})
	}
}

func change(t *testing.T, m *member) {
	t.Helper()
	value := strings.Repeat("y", 2000)
	gone := func(key string) persist.Write {
		return persist.Write{Key: key, Delete: true, RevisionOffset: -1, Conditions: []persist.Condition{at(key, m.revision(key))}}
	}
	if m.revision("/c/n/01") == 0 {
		same(t, "changes", m.append(put("/c/n/01", value, at("/c/n/01", 0))), "ok")
		return
	}
	same(t, "changes", m.append(put("/c/n/01", value, at("/c/n/01", m.revision("/c/n/01"))), gone("/c/n/02"), gone("/c/n/03"), put("/c/n/0a", value, at("/c/n/0a", 0))), "ok, ok, ok, ok")
	same(t, "made anew", m.append(put("/c/n/03", value, at("/c/n/03", 0))), "ok")
}

func compact(t *testing.T, s *etcdtest.Cluster, m *member) {
	t.Helper()
	applied, _ := m.appliedRevision()
	must.Get(s.Client().Compact(context.Background(), applied, clientv3.WithCompactPhysical()))(t)
}

func damage(t *testing.T, dir, suffix string, change func([]byte) []byte) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "snapshots", "*"+suffix))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	text, err := os.ReadFile(found[0])
	if err == nil {
		err = os.WriteFile(found[0], change(text), 0o600)
	}
	must.Succeed(t, err)
}

func onlyOneCopy(t *testing.T, dir string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, filepath.Base(path))
		}
		return err
	})
	if err != nil || len(files) != 2 {
		t.Errorf("the directory holds %v (%v), want a file and its manifest", files, err)
	}
}

// TestLocalCopyOfSecrets checks that copies contain no values that are encrypted in etcd. Such
// values must be read with the current keys.
func TestLocalCopyOfSecrets(t *testing.T) {
	t.Parallel()
	cluster, dir := etcdtest.Start(t, 1), t.TempDir()
	o := Options{Endpoints: cluster.URLs(), CopyDir: dir, Transformer: secretly{0x55}}
	first := open(t, o)
	for i := range 20 {
		for _, key := range []string{fmt.Sprint("/c/n/", i), fmt.Sprint("/secret/n/", i)} {
			same(t, key, first.append(create(key, "value of "+key)), "ok")
		}
	}
	must.Succeed(t, first.snapshot())
	want := first.text()
	must.Succeed(t, first.Close())
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if files++; bytes.Contains(text, []byte("value of /secret")) || bytes.Contains(text, secretly{0x55}.Encode(nil, persist.Place{Key: "/secret/"}, []byte("value of /secret"))) {
			t.Errorf("%s holds what is secret", path)
		}
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v, %v", path, info, err)
		}
		return err
	})
	if err != nil || files != 2 {
		t.Errorf("%d files, %v", files, err)
	}
	again := open(t, o)
	same(t, "the state", again.text(), want)
	if n := again.stats.keysRead.Load(); n != 20 {
		t.Errorf("%d keys were read, want 20", n)
	}
}

// TestRestoredWhileAway checks that a copy newer than the restored backup is not used, even if
// etcd's revision has since exceeded the copy's.
func TestRestoredWhileAway(t *testing.T) {
	t.Parallel()
	for _, beyond := range []bool{false, true} {
		t.Run(fmt.Sprint("beyond=", beyond), func(t *testing.T) {
			t.Parallel()
			cluster, dir := etcdtest.Start(t, 1), t.TempDir()
			o := Options{Endpoints: cluster.URLs()}
			first := open(t, o)
			same(t, "a write", first.append(create("/c/n/a", "in both")), "ok")
			first.Close()
			backup := cluster.Members[0].Backup()
			cluster.AwaitReady()
			o.CopyDir = dir
			second := open(t, o)
			same(t, "a write", second.append(create("/c/n/b", "lost")), "ok")
			must.Succeed(t, second.snapshot())
			second.Close()
			cluster.Members[0].Restore(backup)
			cluster.AwaitReady()
			o.CopyDir = ""
			if beyond { // the same key at the same revision, and further writes
				third := open(t, o)
				for key := range strings.FieldsSeq("/c/n/b /c/n/c /c/n/d /c/n/e") {
					same(t, key, third.append(create(key, "new")), "ok")
				}
				third.Close()
			}
			plain := open(t, o)
			o.CopyDir = dir
			same(t, "the state", open(t, o).text(), plain.text())
			if strings.Contains(plain.text(), "lost") {
				t.Error("the backup has what was written after it")
			}
		})
	}
}

// TestRestoredBelowALog checks that after a restore of the servers, a log fails before it confirms
// a read or writes again.
func TestRestoredBelowALog(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"reads", "writes", "waits"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cluster := etcdtest.Start(t, 1)
			fatal := make(chan error, 1)
			o := Options{Endpoints: cluster.URLs(), CopyDir: t.TempDir(), Fatal: func(err error) { fatal <- err }, HealthCheckTimeout: 10 * time.Second}
			a := open(t, o)
			same(t, "before", a.append(create("/c/n/a", "1")), "ok")
			backup := cluster.Members[0].Backup()
			cluster.AwaitReady()
			eventually(t, "going on", func() bool {
				results, err := a.Append([]persist.Write{create("/c/n/b", "1"), create("/c/n/c", "1")})
				return err == nil && results[0].Err != nil || a.revision("/c/n/b") > 0
			})
			for range 5 {
				a.append(put("/c/n/c", "1", at("/c/n/c", a.revision("/c/n/c"))))
			}
			cluster.Members[0].Restore(backup)
			switch how {
			case "reads":
				eventually(t, "a refusal", func() bool {
					revision, err := a.Current(context.Background())
					if err == nil {
						t.Fatal("a read was confirmed up to", revision)
					}
					return a.failure() != nil
				})
			case "writes":
				eventually(t, "a refusal", func() bool {
					results, err := a.Append([]persist.Write{create("/c/n/d", "1")})
					if err == nil && results[0].Err == nil {
						t.Fatal("a write was acknowledged")
					}
					return a.failure() != nil
				})
			}
			select {
			case err := <-fatal:
				if !strings.Contains(err.Error(), "went back") {
					t.Error("it ends with", err)
				}
			case <-time.After(5 * time.Minute):
				t.Fatal("it goes on")
			}
			if a.Healthy() == nil || a.snapshot() == nil {
				t.Error("it is well, or has written a copy")
			}
		})
	}
}

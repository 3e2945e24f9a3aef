package persist

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestBackupUnderLoad takes backups during appends and snapshots. Each backup must restore a state
// that existed.
func TestBackupUnderLoad(t *testing.T) {
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	must.Succeed(t, j.SetLabel("naming", "platform"))
	states := map[Revision]string{0: ""}
	var load sync.WaitGroup
	load.Add(1)
	appended := make(chan struct{}, 300)
	go func() {
		defer load.Done()
		defer close(appended)
		for i := range 300 {
			_, err := j.Append([]Write{put(fmt.Sprint("k", i%9), fmt.Sprint("v", i)), {Key: fmt.Sprint("k", i%7), Delete: true, RevisionOffset: -1}})
			if err == nil && i%40 == 20 {
				err = j.Snapshot(m.newest, m.newest, m.items())
			}
			if err != nil {
				t.Error(err)
				return
			}
			states[m.newest] = m.String()
			appended <- struct{}{}
		}
	}()
	backups := map[Revision]*bytes.Buffer{}
	for range 20 {
		var b bytes.Buffer
		rev := must.Get(j.Backup(&b))(t)
		backups[rev] = &b
		for range 10 {
			<-appended
		}
	}
	load.Wait()
	var b bytes.Buffer
	rev := must.Get(j.Backup(&b))(t)
	backups[rev] = &b
	mustClose(t, j)
	for rev, b := range backups {
		checkRestore(t, b.Bytes(), rev, states[rev])
	}
}

func checkRestore(t *testing.T, backup []byte, rev Revision, want string) {
	t.Helper()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Now = func() time.Time { return testTime.Add(2 * time.Second) }
	if _, err := restore(testDir, Source{Backup: bytes.NewReader(backup)}, o); err != nil {
		t.Fatalf("restore of revision %d: %v", rev, err)
	}
	j, m := mustReopen(t, testOptions(fs.Crash(nil)))
	defer mustClose(t, j)
	if m.String() != want {
		t.Fatalf("the backup at revision %d is no state that existed:\n%s want\n%s", rev, m, want)
	}
	if floor := rev + restoreRevisionGap + 2*restoreRevisionRate; m.base != floor || len(m.history) != 0 {
		t.Errorf("base is %d with %d commits of history, want %d and none", m.base, len(m.history), floor)
	}
	if v, _ := j.Label("naming"); v != "platform" {
		t.Errorf("label is %q", v)
	}
}

func restoreOn(fs *vfs.Mem, backup []byte) (Restored, error) {
	return restore(testDir, Source{Backup: bytes.NewReader(backup)}, testOptions(fs))
}

func smallBackup(t testing.TB) (*vfs.Mem, []byte) {
	t.Helper()
	fs := vfs.NewMem()
	j, m := mustReopen(t, testOptions(fs))
	mustAppend(t, j, put("a", "1"), put("b", "2"))
	must.Succeed(t, j.Snapshot(2, 2, m.items()))
	mustAppend(t, j, put("c", "3"))
	mustClose(t, j)
	var b bytes.Buffer
	must.Get(backupDir(testDir, &b, testOptions(fs)))(t)
	return fs, b.Bytes()
}

// TestCheckBackup checks that trailing bytes after a complete backup are an error.
func TestCheckBackup(t *testing.T) {
	_, backup := smallBackup(t)
	in := &backupReader{r: bytes.NewReader(backup)}
	must.Succeed(t, in.open())
	if rev, err := CheckBackup(bytes.NewReader(backup)); err != nil || rev != in.head.Revision || rev == 0 {
		t.Errorf("revision %d, %v; want %d", rev, err, in.head.Revision)
	}
	if _, err := CheckBackup(bytes.NewReader(append(bytes.Clone(backup), 0))); err == nil {
		t.Error("a backup with a byte too many passes for whole")
	}
}

// TestRestoreRefuses checks that restoring a damaged or truncated backup creates no data directory.
func TestRestoreRefuses(t *testing.T) {
	_, backup := smallBackup(t)
	try := func(name string, data []byte) {
		t.Helper()
		fs := vfs.NewMem()
		if _, err := restoreOn(fs, data); err == nil {
			t.Fatalf("%s: restored", name)
		}
		if files := fs.Files(); len(files) != 0 {
			t.Fatalf("%s: left %v", name, files)
		}
	}
	for n := range backup {
		try(fmt.Sprintf("cut at %d", n), backup[:n])
		if _, err := CheckBackup(bytes.NewReader(backup[:n])); err == nil {
			t.Errorf("a backup cut at %d passes for whole", n)
		}
		flipped := bytes.Clone(backup)
		flipped[n] ^= 1 << (n % 8)
		try(fmt.Sprintf("flip in %d", n), flipped)
	}
	trailing := append(bytes.Clone(backup), 0)
	try("trailing byte", trailing)
	if _, err := CheckBackup(bytes.NewReader(trailing)); err == nil {
		t.Error("a backup with a trailing byte passes for whole")
	}
	fs, _ := smallBackup(t)
	if _, err := restoreOn(fs, backup); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("restore into a data directory: %v", err)
	}
}

// creations returns functions that create a data directory with the state smallState, by Restore
// and by Create.
func creations(t *testing.T) map[string]func(*vfs.Mem) error {
	_, backup := smallBackup(t)
	return map[string]func(*vfs.Mem) error{
		"restore": func(fs *vfs.Mem) error { _, err := restoreOn(fs, backup); return err },
		"create": func(fs *vfs.Mem) error {
			items := func(yield func(Item) error) error {
				var errs []error
				for i, key := range []string{"a", "b", "c"} {
					errs = append(errs, yield(Item{Key: key, Value: fmt.Append(nil, i+1), Revision: Revision(i + 1)}))
				}
				return errors.Join(errs...)
			}
			files := func() error {
				return errors.Join(fs.MkdirAll(testDir+"/pki"), replaceFile(fs, smallKey, []byte("key")))
			}
			return Create(testDir, func() (State, error) { return State{Revision: 3, Items: items, Files: files}, nil }, testOptions(fs))
		},
	}
}

const (
	smallState = "a@1=1\nb@2=2\nc@3=3\n"
	smallKey   = testDir + "/pki/key" // only in a directory made by Create
)

// TestRestoreCrash interrupts a restore or Create at every operation, by power loss or by killing
// the process. Afterwards, the directory must be complete, or Open must reject it and a second run
// must succeed.
func TestRestoreCrash(t *testing.T) {
	for name, create := range creations(t) {
		count := vfs.NewMem()
		must.Succeed(t, create(count))
		for at := 1; at <= count.Ops(); at++ {
			for _, killed := range []bool{false, true} {
				fs := vfs.NewMem()
				fs.SetFault(failAt(at, vfs.ErrCrashed))
				if err := create(fs); err == nil {
					t.Fatalf("%s, operation %d: no crash", name, at)
				}
				after := fs.Clone()
				if !killed {
					after = fs.Crash(nil)
				}
				began := len(after.Files()) > 0
				if j, m, err := reopen(testOptions(after.Clone())); err == nil {
					mustClose(t, j)
					if got := m.String(); got != smallState && (began || got != "") {
						t.Fatalf("%s, operation %d: opens as\n%s", name, at, got)
					}
				}
				err := create(after)
				if whole := after.Bytes(testDir+"/restoring") == nil && after.Bytes(testDir+"/format") != nil; err != nil && !whole {
					t.Fatalf("%s, operation %d: again: %v", name, at, err)
				}
				if j, m := mustReopen(t, testOptions(after)); m.String() != smallState || (name == "create") != (after.Bytes(smallKey) != nil) {
					t.Fatalf("%s, operation %d: created again as\n%s", name, at, m)
				} else {
					mustClose(t, j)
				}
			}
		}
	}
}

// TestRestoreFails fails each operation of a restore or Create in turn. It must leave no directory,
// a complete one, or one that Open refuses and a new run replaces.
func TestRestoreFails(t *testing.T) {
	for name, create := range creations(t) {
		for _, empty := range []bool{false, true} {
			begin := func() *vfs.Mem {
				fs := vfs.NewMem()
				if empty {
					must.Succeed(t, errors.Join(fs.MkdirAll(testDir), fs.SyncDir("/")))
				}
				return fs
			}
			cleaned := 0
			for at := begin().Ops() + 1; ; at++ {
				fs := begin()
				fs.SetFault(failAt(at, errors.New("input/output error")))
				err := create(fs)
				if fs.Ops() < at {
					break
				}
				if len(fs.Files()) == 0 {
					cleaned++
				} else if j, m, opened := reopen(testOptions(fs.Clone())); opened == nil {
					mustClose(t, j)
					if m.String() != smallState {
						t.Fatalf("%s, operation %d: %v, and it opens as\n%s", name, at, err, m)
					}
					continue
				}
				fs.SetFault(nil)
				if err := create(fs); err != nil {
					t.Fatalf("%s, operation %d: again: %v", name, at, err)
				}
			}
			if cleaned < 10 {
				t.Errorf("%s: only %d failures left nothing", name, cleaned)
			}
		}
	}
	fs := vfs.NewMem()
	if _, err := restore(testDir, Source{Backup: strings.NewReader("not a backup")}, testOptions(fs)); err == nil || len(fs.Files()) > 0 {
		t.Errorf("of no backup: %v, left %v", err, fs.Files())
	}
	if _, err := fs.ReadDir(testDir); err == nil {
		t.Error("the directory that a failed restore has made is left")
	}
}

// A slowReader calls killed before it returns data, to simulate a killed restore.
type slowReader struct{ killed func() }

func (r slowReader) Read([]byte) (int, error) {
	r.killed()
	return 0, errors.New("no more")
}

// TestRestoreIsKilledWhileItReads checks that Open does not mistake an unfinished restore for an
// empty directory.
func TestRestoreIsKilledWhileItReads(t *testing.T) {
	fs := vfs.NewMem()
	var after *vfs.Mem
	if _, err := restore(testDir, Source{Backup: slowReader{func() { after = fs.Clone() }}}, testOptions(fs)); err == nil {
		t.Fatal("restored out of nothing")
	}
	if _, _, err := reopen(testOptions(after)); err == nil || !strings.Contains(err.Error(), "restore") {
		t.Errorf("opened with %v", err)
	}
}

// TestRestoreSkipsRevisionsAtAnyClock checks that a restore skips enough revisions to cover years
// of writes after the backup, regardless of the clock.
func TestRestoreSkipsRevisionsAtAnyClock(t *testing.T) {
	_, backup := smallBackup(t)
	for _, elapsed := range []time.Duration{-20 * 365 * 24 * time.Hour, 0, 365 * 24 * time.Hour} {
		fs := vfs.NewMem()
		o := testOptions(fs)
		o.Now = func() time.Time { return testTime.Add(elapsed) }
		must.Get(restore(testDir, Source{Backup: bytes.NewReader(backup)}, o))(t)
		j, m := mustReopen(t, testOptions(fs))
		if least := Revision(5 * 365 * 24 * 3600 * 100_000); m.base < least {
			t.Errorf("%v after the backup: at %d, may have been given out", elapsed, m.base)
		}
		mustClose(t, j)
		j, again := mustReopen(t, testOptions(fs.Crash(nil))) // before any write
		if again.newest != m.newest {
			t.Errorf("killed before the first write, it is at %d, was at %d", again.newest, m.newest)
		}
		mustClose(t, j)
	}
}

func TestVerify(t *testing.T) {
	fs, _ := smallBackup(t)
	o := testOptions(fs)
	j, _ := mustReopen(t, o) // the directory is in use
	defer mustClose(t, j)
	var out strings.Builder
	ok, err := verify(testDir, &out, Checks{}, o)
	if err != nil || !ok {
		t.Fatalf("%v %v\n%s", ok, err, out.String())
	}
	for _, want := range []string{"revision 2, 2 items", "1 batches, revisions 3 to 3", "0 faults"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	for _, path := range fs.Files() {
		data := fs.Bytes(path)
		for n := range data {
			c := fs.Clone()
			data[n] ^= 4
			c.SetBytes(path, data)
			data[n] ^= 4
			out.Reset()
			ok, err := verify(testDir, &out, Checks{}, testOptions(c))
			if err != nil || ok || !strings.Contains(out.String(), path) {
				t.Fatalf("%s flipped in byte %d: ok=%v err=%v\n%s", path, n, ok, err, out.String())
			}
		}
	}
}

func TestBackupDirLocked(t *testing.T) {
	fs := vfs.NewMem()
	j, _ := mustReopen(t, testOptions(fs))
	if _, err := backupDir(testDir, &bytes.Buffer{}, testOptions(fs)); !errors.Is(err, ErrLocked) {
		t.Errorf("backup of a directory in use: %v", err)
	}
	mustClose(t, j)
}

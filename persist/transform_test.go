package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

// placeMarker is a Transformer that prefixes each value with its place and inverts its bits, so
// that plain text in files and moved values are detectable.
type placeMarker struct{}

func (placeMarker) Check(string) error { return nil }

func (placeMarker) Transforms(string) bool { return true }

func markOf(at Place) string { return fmt.Sprintf("%s|%d|%v|", at.Key, at.Revision, at.Metadata) }

func (placeMarker) Encode(b []byte, at Place, value []byte) []byte {
	b = append(b, markOf(at)...)
	for _, c := range value {
		b = append(b, ^c)
	}
	return b
}

func (placeMarker) Decode(at Place, stored []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(stored, []byte(markOf(at)))
	if !ok {
		return nil, errors.New("it belongs to another place")
	}
	value := make([]byte, len(rest))
	for i, c := range rest {
		value[i] = ^c
	}
	return value, nil
}

// keyed is a placeMarker that begins each value with the name of a key. It encodes with the key
// write and decodes with any of the keys read.
type keyed struct {
	placeMarker
	write, read string
}

func (k *keyed) Encode(b []byte, at Place, value []byte) []byte {
	return k.placeMarker.Encode(append(b, k.write...), at, value)
}

func (k *keyed) Decode(at Place, stored []byte) ([]byte, error) {
	if len(stored) == 0 || !strings.Contains(k.read, string(stored[:1])) {
		return nil, errors.New("its key is missing")
	}
	return k.placeMarker.Decode(at, stored[1:])
}

// sometimes is a placeMarker that cannot encode one key and cannot decode another.
type sometimes struct {
	placeMarker
	unwritable, unreadable string
	err                    error
}

func (s *sometimes) Check(key string) error {
	if key == s.unwritable {
		return s.err
	}
	return nil
}

func (s *sometimes) Decode(at Place, stored []byte) ([]byte, error) {
	if at.Key == s.unreadable {
		return nil, s.err
	}
	return s.placeMarker.Decode(at, stored)
}

// TestTransformerHidesValues checks that no file contains plain values after writes, a snapshot, a
// backup, a restore or an accepted loss. The values must stay readable.
func TestTransformerHidesValues(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Transformer = placeMarker{}
	j, m := mustReopen(t, o)
	const secret = "a-secret-value"
	write := put("a", secret)
	write.Metadata = []byte("meta-" + secret)
	mustAppend(t, j, write, put("b", secret))
	must.Succeed(t, j.Snapshot(m.newest, 1, m.items()))
	gone := put("b", secret)
	gone.Delete = true
	mustAppend(t, j, put("c", secret), gone)
	var backup bytes.Buffer
	must.Get(j.Backup(&backup))(t)
	mustClose(t, j)
	if bytes.Contains(backup.Bytes(), []byte(secret)) {
		t.Error("the backup holds a value as it is")
	}
	noneHolds(t, fs, secret)
	want := m.state["a"].Value
	restored := testOptions(vfs.NewMem())
	must.Get(restore(testDir, Source{Backup: &backup}, restored))(t)
	noneHolds(t, restored.FS.(*vfs.Mem), secret)
	restored.Transformer = o.Transformer
	j, m = mustReopen(t, restored)
	mustClose(t, j)
	if !bytes.Equal(m.state["a"].Value, want) || len(m.state) != 2 {
		t.Errorf("restored %s", m)
	}

	must.Succeed(t, fs.Remove(testDir+"/"+controlFile))
	o.AcceptDataLoss = true
	j, m = mustReopen(t, o)
	mustClose(t, j)
	noneHolds(t, fs, secret)
	if !bytes.Equal(m.state["a"].Value, want) || len(m.state) != 2 {
		t.Errorf("after a loss: %s", m)
	}
}

func noneHolds(t *testing.T, fs *vfs.Mem, text string) {
	t.Helper()
	for _, dir := range []string{testDir, journalDir(testDir), snapshotsDir(testDir)} {
		names := must.Get(fs.ReadDir(dir))(t)
		for _, name := range names {
			if bytes.Contains(fs.Bytes(dir+"/"+name), []byte(text)) {
				t.Errorf("%s/%s holds a value as it is", dir, name)
			}
		}
	}
}

// TestTransformerRefusals checks that an encoding error rejects only the affected write. An
// unreadable value keeps its stored form in recovery and snapshots. Recovery must fail if the value
// may become readable later.
func TestTransformerRefusals(t *testing.T) {
	t.Parallel()
	fs, no := vfs.NewMem(), errors.New("no key")
	with := &sometimes{err: no}
	o := testOptions(fs)
	o.Transformer = with
	j, m := mustReopen(t, o)
	mustAppend(t, j, put("a", "1"), put("b", "2"))
	with.unwritable = "c"
	results := mustAppend(t, j, put("c", "3"), put("d", "4"))
	if refused, ok := errors.AsType[*TransformError](results[0].Err); !ok || !errors.Is(refused, no) || results[1].Revision != 3 {
		t.Errorf("results %+v", results)
	}
	with.unwritable = "d"
	if err := j.Snapshot(m.newest, 0, m.items()); !errors.Is(err, no) {
		t.Errorf("snapshot of what cannot be written: %v", err)
	}
	with.unwritable = ""
	mustClose(t, j)

	with.unreadable = "b"
	for range 2 { // first from the journal, then from a snapshot
		j, m = mustReopen(t, o)
		sealed := append([]byte("b|2|false|"), ^byte('2'))
		if b := m.state["b"]; !bytes.Equal(b.Value, sealed) || len(m.state) != 3 {
			t.Errorf("state %s", m)
		}
		state := m.state["b"]
		state.Err = no
		m.state["b"] = state
		must.Succeed(t, j.Snapshot(m.newest, m.newest+1, m.items()))
		mustClose(t, j)
	}
	with.unreadable = ""
	j, m = mustReopen(t, o)
	mustClose(t, j)
	if got := string(m.state["b"].Value); got != "2" {
		t.Errorf("with the key again: %q", got)
	}
	with.unreadable, with.err = "b", fmt.Errorf("%w: no answer", ErrUnavailable)
	j, err := Open(testDir, o)
	must.Succeed(t, err)
	if _, err = j.Recover(Recovery{Item: func(Item) error { return nil }}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("recovery without an answer: %v", err)
	}
	mustClose(t, j)
}

func TestVerifyVisits(t *testing.T) {
	t.Parallel()
	fs := vfs.NewMem()
	o := testOptions(fs)
	o.Transformer = placeMarker{}
	j, m := mustReopen(t, o)
	write := put("a", "1")
	write.Metadata = []byte("note")
	mustAppend(t, j, write, put("b", "2"))
	must.Succeed(t, j.Snapshot(m.newest, 0, m.items()))
	mustClose(t, j)
	var seen []string
	visit := func(at Place, stored []byte) error {
		seen = append(seen, at.String())
		_, err := placeMarker{}.Decode(at, stored)
		return err
	}
	if ok, err := verify(testDir, io.Discard, Checks{Value: visit}, o); !ok || err != nil || len(seen) != 5 {
		t.Errorf("%v, %v: %q", ok, err, seen)
	}
	var out strings.Builder
	refuse := func(at Place, _ []byte) error {
		if at.Metadata {
			return errors.New("no key")
		}
		return nil
	}
	ok, err := verify(testDir, &out, Checks{Value: refuse}, o)
	if ok || err != nil || !strings.Contains(out.String(), `FAULT the metadata of "a" at revision 1 cannot be read: no key`) {
		t.Errorf("%v, %v: %s", ok, err, out.String())
	}
}

package persist

import (
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/vfs"
)

func TestCreate(t *testing.T) {
	items := []Item{{Key: "a", Value: []byte("1"), Revision: 3}, {Key: "b", Value: []byte("2"), Revision: 7}}
	unread, fault := Item{Key: "c", Err: errors.New("no key")}, errors.New("fault")
	for _, c := range []struct {
		name  string
		items []Item
		after error // of Items
		files error
		want  string // substring of the error
	}{
		{name: "state", items: items},
		{name: "nothing"},
		{name: "duplicate", items: append(items, items[0]), want: `"a" occurs twice`},
		{name: "unreadable item", items: append(items, unread), want: `"c" cannot be read: no key`},
		{name: "failed read", items: items, after: fault, want: "fault"},
		{name: "failed files", items: items, files: fault, want: "fault"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := vfs.NewMem()
			read := func() (State, error) {
				return State{Labels: map[string]string{"naming": "platform"}, Revision: 9, Files: func() error { return c.files }, Items: func(yield func(Item) error) error {
					for _, i := range c.items {
						if err := yield(i); err != nil {
							return err
						}
					}
					return c.after
				}}, nil
			}
			err := Create(testDir, read, testOptions(fs))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || len(fs.Files()) > 0 {
					t.Fatalf("got %v and the files %v, want %s", err, fs.Files(), c.want)
				}
				return
			}
			must.Succeed(t, err)
			if err := Create(testDir, read, testOptions(fs)); err == nil {
				t.Error("a directory is created twice")
			}
			j, m := mustReopen(t, testOptions(fs))
			want := map[string]Item{}
			for _, i := range c.items {
				want[i.Key] = i
			}
			if label, _ := j.Label("naming"); label != "platform" || m.newest != 9 || m.String() != render(want) {
				t.Errorf("at %d with the label %q:\n%s", m.newest, label, m)
			}
			mustClose(t, j)
		})
	}
}

// A failingReads fails some reads of files. fails gets the number of the read, counted from 0.
type failingReads struct {
	*vfs.Mem
	reads *int
	fails func(n int) bool
}

var errUnreadable = errors.New("input/output error")

func (f failingReads) Open(path string) (vfs.File, error) { return f.wrap(f.Mem.Open(path)) }

func (f failingReads) OpenReadWrite(path string) (vfs.File, error) {
	return f.wrap(f.Mem.OpenReadWrite(path))
}

func (f failingReads) wrap(file vfs.File, err error) (vfs.File, error) {
	return failingFile{file, f}, err
}

type failingFile struct {
	vfs.File
	fs failingReads
}

func (f failingFile) ReadAt(b []byte, at int64) (int, error) {
	if *f.fs.reads++; f.fs.fails(*f.fs.reads - 1) {
		return 0, errUnreadable
	}
	return f.File.ReadAt(b, at)
}

// TestReadErrors fails each read of a start, which must fail or have the whole state, and each read
// of a verification and all later ones, which must be reported.
func TestReadErrors(t *testing.T) {
	p := makePast(t)
	_, whole := mustReopen(t, withFS(p, p.fs.Clone()))
	for at, reads := 0, 1; at < reads; at++ {
		reads = 0
		fs := p.fs.Clone()
		_, m, err := reopen(withFS(p, failingReads{fs, &reads, func(n int) bool { return n == at }}))
		if err == nil {
			if m.String() != whole.String() {
				t.Errorf("read %d: got\n%s\nwant\n%s", at, m, whole)
			}
			continue
		}
		if !errors.Is(err, errUnreadable) {
			t.Errorf("read %d: %v", at, err)
		}
		if _, m, err := reopen(withFS(p, fs)); err != nil || m.String() != whole.String() {
			t.Errorf("after read %d: %v", at, err)
		}
	}
	for at, reads := 0, 1; at < reads; at++ {
		reads = 0
		var out strings.Builder
		ok, err := verify(testDir, &out, Checks{}, withFS(p, failingReads{p.fs, &reads, func(n int) bool { return n >= at }}))
		if ok && err == nil && at < reads {
			t.Errorf("read %d: verification passes\n%s", at, out.String())
		}
	}
}

func withFS(p *past, fs vfs.FS) Options {
	o := p.options()
	o.FS = fs
	return o
}

package represent

import (
	"errors"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/meta"
)

type encodedForms struct {
	Forms
	made int
}

func (f *encodedForms) ask(t *testing.T, o *meta.Object, id meta.FormID, size int) []byte {
	t.Helper()
	form, err := f.get(o, id, func(*meta.Object) ([]byte, error) { f.made++; return make([]byte, size), nil })
	if err != nil || len(form) != size {
		t.Fatalf("%d bytes, %v", len(form), err)
	}
	return form
}

func objectOf(size int) *meta.Object { return &meta.Object{Version: 1, JSON: make([]byte, size)} }

func TestForms(t *testing.T) {
	t.Parallel()
	var f encodedForms
	o := objectOf(1000)
	if one, two := f.ask(t, o, 1, 100), f.ask(t, o, 1, 100); f.made != 1 || &one[0] != &two[0] {
		t.Errorf("made %d times", f.made)
	}
	if f.ask(t, o, 2, 50); f.made != 2 {
		t.Errorf("made %d times for two encodings", f.made)
	}
	if n, bytes := f.Size(); n != 2 || bytes != 100+50+2*(1000+formOverhead) {
		t.Errorf("%d forms of %d bytes", n, bytes)
	}
	if _, err := f.get(o, 3, func(*meta.Object) ([]byte, error) { return nil, errors.New("no") }); err == nil || o.Form(3) != nil {
		t.Error("an error is kept")
	}
}

// TestFormsBound checks that the cache is limited, and that evicted forms are removed from their
// objects.
func TestFormsBound(t *testing.T) {
	t.Parallel()
	var f encodedForms
	const size = 64 << 10
	var all []*meta.Object
	for range 2 * maxForms / size {
		o := objectOf(size / 2)
		all = append(all, o)
		f.ask(t, o, 1, size/2)
	}
	with := 0
	for _, o := range all {
		if o.Form(1) != nil {
			with++
		}
	}
	if n, bytes := f.Size(); n != with || bytes > maxForms || bytes < maxForms-2*size || bytes != n*(size+formOverhead) {
		t.Errorf("%d forms of %d bytes, at %d objects", n, bytes, with)
	}
	large := objectOf(1)
	if f.ask(t, large, 1, maxForms/maxFormShare); large.Form(1) != nil {
		t.Error("one that drives out an eighth of the others is kept")
	}
}

func TestFormsScarce(t *testing.T) {
	t.Parallel()
	var f encodedForms
	scarce := false
	f.Scarce = func() bool { return scarce }
	before := objectOf(10)
	f.ask(t, before, 1, 10)
	scarce = true
	after := objectOf(10)
	f.ask(t, after, 1, 10)
	if n, bytes := f.Size(); n != 0 || bytes != 0 || before.Form(1) != nil || after.Form(1) != nil {
		t.Errorf("%d forms of %d bytes", n, bytes)
	}
}

func TestFormsRaces(t *testing.T) {
	t.Parallel()
	var f Forms
	const size = maxForms / 64
	objects := make([]*meta.Object, 96)
	for i := range objects {
		objects[i] = objectOf(0)
	}
	form := make([]byte, size)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, o := range objects {
				_, _ = f.get(o, 1, func(*meta.Object) ([]byte, error) { return form, nil })
			}
		})
	}
	all.Wait()
	with := 0
	for _, o := range objects {
		if o.Form(1) != nil {
			with++
		}
	}
	if n, bytes := f.Size(); n != with || bytes != n*(size+formOverhead) || bytes > maxForms {
		t.Errorf("%d forms of %d bytes, at %d objects", n, bytes, with)
	}
}

func TestFormIDs(t *testing.T) {
	t.Parallel()
	seen := map[meta.FormID]negotiate.Format{}
	for _, f := range []negotiate.Format{
		{Encoding: negotiate.Protobuf, Shape: negotiate.Whole},
		{Encoding: negotiate.Protobuf, Shape: negotiate.Partial, Version: "v1"},
		{Encoding: negotiate.Protobuf, Shape: negotiate.Partial, Version: "v1beta1"},
		{Encoding: negotiate.CBOR, Shape: negotiate.Whole},
		{Encoding: negotiate.CBOR, Shape: negotiate.Partial, Version: "v1"},
		{Encoding: negotiate.CBOR, Shape: negotiate.Partial, Version: "v1beta1"},
	} {
		id, ok := formID(f)
		if other, known := seen[id]; known || !ok || id == 0 {
			t.Errorf("%+v has the name of %+v", f, other)
		}
		seen[id] = f
	}
	for _, f := range []negotiate.Format{{Encoding: negotiate.JSON}, {Encoding: negotiate.YAML}, {Encoding: negotiate.CBOR, Shape: negotiate.Table}} {
		if _, ok := formID(f); ok {
			t.Errorf("%+v is kept", f)
		}
	}
}

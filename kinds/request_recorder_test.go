package kinds_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/kinds/request"
)

func TestRecorder(t *testing.T) {
	var r request.Recorder
	r.Warn("forgotten")
	r.Reset()
	r.Warn("a", "b")
	r.Annotate(request.Annotation{Key: "k", Value: "1"})
	r.Annotate(request.Annotation{Key: "l", Value: "2", Detailed: true})
	if r.Annotate(request.Annotation{Key: "k", Value: "3"}) || !r.Annotate(request.Annotation{Key: "k", Value: "1"}) {
		t.Error("the first value of a key is the one that counts")
	}
	var all request.Recorder
	all.Add(&r)
	warnings, annotations := all.Recorded()
	if got, want := fmt.Sprint(warnings, annotations), "[a b] [{k 1 false} {l 2 true}]"; got != want || !all.Warned() {
		t.Errorf("recorded %s, want %s", got, want)
	}
}

func TestNilRecorder(t *testing.T) {
	var r *request.Recorder
	r.Reset()
	r.Warn("a")
	r.Annotate(request.Annotation{Key: "k"})
	if warnings, annotations := r.Recorded(); warnings != nil || annotations != nil || r.Warned() {
		t.Error(warnings, annotations)
	}
}

// TestRecorderIsShared checks that a Recorder can be used concurrently, because an abandoned
// mutation may still write to it.
func TestRecorderIsShared(t *testing.T) {
	var r request.Recorder
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r.Warn(fmt.Sprint(i))
			r.Annotate(request.Annotation{Key: fmt.Sprint(i)})
			r.Recorded()
		})
	}
	all.Wait()
	if warnings, annotations := r.Recorded(); len(warnings) != 8 || len(annotations) != 8 {
		t.Error(warnings, annotations)
	}
}

func TestRecorderIsBounded(t *testing.T) {
	var r request.Recorder
	r.Warn("first")
	for range 10_000 {
		r.Warn(strings.Repeat("x", 1000), "")
	}
	r.Warn(strings.Repeat("y", 1<<20))
	warnings, _ := r.Recorded()
	if size := len(strings.Join(warnings, "")); size > 64<<10 || size < 32<<10 || warnings[0] != "first" {
		t.Errorf("%d bytes are kept", size)
	}
	r.Reset()
	r.Warn("again")
	if warnings, _ = r.Recorded(); len(warnings) != 1 {
		t.Errorf("after a reset: %d", len(warnings))
	}
}

// TestManyAnnotations checks that the first annotation of each key is kept and that lookups take
// constant time.
func TestManyAnnotations(t *testing.T) {
	var r request.Recorder
	const many = 50_000 // too many for pairwise comparison
	for i := range many {
		if !r.Annotate(request.Annotation{Key: fmt.Sprint(i), Value: "a"}) {
			t.Fatalf("annotation %d was there", i)
		}
	}
	for i := range many {
		if key := fmt.Sprint(i); r.Annotate(request.Annotation{Key: key, Value: "b"}) || !r.Annotate(request.Annotation{Key: key, Value: "a"}) {
			t.Fatalf("annotation %d has another value", i)
		}
	}
	if _, annotations := r.Recorded(); len(annotations) != many {
		t.Errorf("%d annotations", len(annotations))
	}
}

package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestExternalConversion(t *testing.T) {
	h := openThings(t)
	sink, session := h.watch(request.Watch{Kind: h.v2, SendInitialEvents: true})
	defer session.Stop()
	h.mustCreate("a", "x")
	if len(h.counts()) > 1 {
		t.Errorf("a write in the stored version was converted: %v", h.counts())
	}
	if e := h.next(sink); !hasVersion(e.Object, "v2") {
		t.Errorf("a watch shows %s", e.Object.JSON)
	}
	if o, err := h.get(context.Background(), h.v2, "a"); err != nil || !hasVersion(o, "v2") {
		t.Errorf("a get shows %v, %v", o, err)
	}
	if l, err := h.List(context.Background(), request.List{Kind: h.v2}); err != nil || l.Form.Converter != nil || len(l.Items) != 1 || !hasVersion(l.Items[0], "v2") {
		t.Errorf("a list shows %+v, %v", l, err)
	}
	if r, err := h.patch(h.v2, "a", "y"); err != nil || !hasVersion(r.Object, "v2") {
		t.Errorf("a patch shows %v, %v", r.Object, err)
	}
	if o, err := h.get(context.Background(), h.v1, "a"); err != nil || !hasVersion(o, "v1") {
		t.Errorf("a get of the stored version shows %v, %v", o, err)
	}
	if l, err := h.List(context.Background(), request.List{Kind: h.v1}); err != nil || l.Form.Converter == nil || !hasVersion(l.Items[0], "v1") {
		t.Errorf("a list of the stored version shows %+v, %v", l, err)
	}
	for at, n := range h.counts() {
		if n != 1 {
			t.Errorf("%s was converted %d times", at, n)
		}
	}
}

func TestFailingConversion(t *testing.T) {
	h := openThings(t)
	h.mustCreate("a", "x")
	from := h.Version()
	h.set(errors.New("the converter is on fire"))
	isClear := func(err error) bool {
		var status *meta.Status
		return errors.As(err, &status) && status.Code == 500 && status.Reason == meta.ReasonInternalError &&
			strings.Contains(status.Message, "example.com/v2, Kind=Thing failed: the converter is on fire")
	}
	if _, err := h.get(context.Background(), h.v2, "a"); !isClear(err) {
		t.Errorf("a get: %v", err)
	}
	if _, err := h.List(context.Background(), request.List{Kind: h.v2}); !isClear(err) {
		t.Errorf("a list: %v", err)
	}
	if _, err := h.patch(h.v2, "a", "y"); !isClear(err) {
		t.Errorf("a patch: %v", err)
	}
	sinks := make([]eventSink, 20)
	for i := range sinks {
		sinks[i], _ = h.watch(request.Watch{Kind: h.v2, Version: from})
	}
	for _, sink := range sinks {
		if e := h.next(sink); e.Type != request.Error || !isClear(e.Status) {
			t.Errorf("a watch: %+v", e)
		}
	}
	if o, err := h.get(context.Background(), h.v1, "a"); err != nil || !strings.Contains(string(o.JSON), `"l":"y"`) {
		t.Errorf("the patch was not stored: %v, %v", o, err)
	}
	// DeleteCollection must succeed, because it returns the stored objects without converting them.
	if _, err := h.DeleteCollection(context.Background(), request.List{Kind: h.v2, Namespace: "default"}, request.Mutation{Kind: h.v2, Change: request.Delete{}}); err != nil {
		t.Errorf("deleting all: %v", err)
	}
	if _, err := h.get(context.Background(), h.v1, "a"); statusCode(err) != 404 {
		t.Errorf("after deleting all: %v", err)
	}
	h.set(nil)
	h.mustCreate("b", "x")
	if o, err := h.get(context.Background(), h.v2, "b"); err != nil || !hasVersion(o, "v2") {
		t.Errorf("after the failure: %v, %v", o, err)
	}
}

func TestSlowConversion(t *testing.T) {
	h := openThings(t)
	h.mustCreate("a", "x")
	from := h.Version()
	open := h.shut()
	defer open()
	slow, stopped := h.watch(request.Watch{Kind: h.v2, SendInitialEvents: true})
	<-h.waiting
	answers := make(chan error, 2)
	go func() { _, err := h.get(context.Background(), h.v2, "a"); answers <- err }()
	go func() { _, err := h.patch(h.v2, "a", "y"); answers <- err }()
	<-h.waiting // the conversion for the patch; the get waits for that of the watch
	quick, session := h.watch(request.Watch{Kind: h.v1, Version: from})
	defer session.Stop()
	if e := h.next(quick); e.Type != request.Modified || !hasVersion(e.Object, "v1") {
		t.Errorf("a watch of the stored version: %+v", e)
	}
	for i := range 10 { // writes of the same and of another object
		h.mustPatch("a", fmt.Sprint("z", i))
		h.mustCreate(fmt.Sprint("b", i), "x")
		if _, err := h.get(context.Background(), h.v1, "a"); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := h.get(ctx, h.v2, "b3"); statusCode(err) != 504 {
		t.Errorf("a get that gives up: %v", err)
	}
	ended := make(doneSink)
	abandoned := must.Get(h.Watch(context.Background(), request.Watch{Kind: h.v2, Version: from}, ended))(t)
	abandoned.Stop()
	<-ended // does not wait for the conversion
	open()
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if e := h.next(slow); e.Type != request.Added || !hasVersion(e.Object, "v2") {
		t.Errorf("the slow watch: %+v", e)
	}
	stopped.Stop()
}

func TestOneConversionPerEvent(t *testing.T) {
	h := openThings(t)
	const watchers, changes = 300, 20
	var sinks []eventSink
	for range watchers {
		sink, session := h.watch(request.Watch{Kind: h.v2, Version: h.Version()})
		defer session.Stop()
		sinks = append(sinks, sink)
	}
	h.mustCreate("a", "x")
	for i := range changes {
		h.mustPatch("a", fmt.Sprint(i))
	}
	for _, sink := range sinks {
		for range changes + 1 {
			if e := h.next(sink); !hasVersion(e.Object, "v2") {
				t.Fatalf("event %+v", e)
			}
		}
	}
	counts := h.counts()
	for at, n := range counts {
		if n != 1 {
			t.Errorf("%s was converted %d times for %d watchers", at, n, watchers)
		}
	}
	if len(counts) != changes+1 {
		t.Errorf("%d objects were converted, want %d", len(counts), changes+1)
	}
}

// TestConversionOfDeselected changes an object so that it no longer matches a watch's selector.
// That watch must get a Deleted event with the previous object, converted. Other watches get a
// Modified event with the new object.
func TestConversionOfDeselected(t *testing.T) {
	h := openThings(t)
	h.mustCreate("a", "in")
	from := h.Version()
	labels := must.Get(selector.ParseLabels("l=in"))(t)
	h.mustPatch("a", "out")
	for range 2 { // the second time from the cache
		all, session := h.watch(request.Watch{Kind: h.v2, Version: from})
		defer session.Stop()
		if e := h.next(all); e.Type != request.Modified || !strings.Contains(string(e.Object.JSON), `"l":"out"`) {
			t.Errorf("a watch of all: %v %s", e.Type, e.Object.JSON)
		}
		some, session := h.watch(request.Watch{Kind: h.v2, Version: from, Labels: labels})
		defer session.Stop()
		if e := h.next(some); e.Type != request.Deleted || !strings.Contains(string(e.Object.JSON), `"l":"in"`) {
			t.Errorf("a watch of what has left: %v %s", e.Type, e.Object.JSON)
		}
	}
}

func TestConversionOfDryRun(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		h := openThings(t)
		k := h.v1
		if version == "v2" {
			k = h.v2
		}
		h.mustCreate("a", "stored")
		r, err := h.Mutate(context.Background(), request.Mutation{Kind: k, Key: meta.Key{Namespace: "default", Name: "a"},
			DryRun: true, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"metadata":{"labels":{"l":"imagined"}}}`)}})
		if err != nil || !strings.Contains(string(r.Object.JSON), `"l":"imagined"`) {
			t.Errorf("the dry run: %v, %v", r.Object, err)
		}
		if o, err := h.get(context.Background(), k, "a"); err != nil || !strings.Contains(string(o.JSON), `"l":"stored"`) {
			t.Errorf("%s after the dry run: %v, %v", version, o, err)
		}
	}
}

// TestBuiltInConversionIsShared checks that watches and readers of another version share one
// object, even for built-in conversions.
func TestBuiltInConversionIsShared(t *testing.T) {
	h := open(t, t.TempDir(), nil)
	defer h.close()
	v1, v2 := h.kinds.Kind("autoscaling", "v1", "horizontalpodautoscalers"), h.kinds.Kind("autoscaling", "v2", "horizontalpodautoscalers")
	key := meta.Key{Namespace: "default", Name: "a"}
	from := h.Version()
	must.Get(h.Mutate(context.Background(), request.Mutation{Kind: v2, Key: key, Change: request.Create{Object: tree.Tree{
		"metadata": tree.Tree{"name": "a"},
		"spec":     tree.Tree{"maxReplicas": int64(3), "scaleTargetRef": tree.Tree{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}},
	}}}))(t)
	sink := make(eventSink, 1)
	session := must.Get(h.Watch(context.Background(), request.Watch{Kind: v1, Version: from}, sink))(t)
	defer session.Stop()
	seen := []*meta.Object{(<-sink).Object}
	o := must.Get(h.Get(context.Background(), request.Get{Kind: v1, Key: key}))(t)
	l := must.Get(h.List(context.Background(), request.List{Kind: v1}))(t)
	items := must.Get(l.Form.Convert(context.Background(), l.Items))(t)
	seen = append(append(seen, o), items...)
	if len(seen) != 3 || slices.ContainsFunc(seen, func(o *meta.Object) bool { return o != seen[0] }) {
		t.Errorf("the same object was converted more than once: %p", seen)
	}
	if !strings.Contains(string(seen[0].JSON), `"apiVersion":"autoscaling/v1"`) {
		t.Errorf("it is %s", seen[0].JSON)
	}
}

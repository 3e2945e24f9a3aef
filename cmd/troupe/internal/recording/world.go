package recording

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A step is a watch or a write of the controller, or an external change of an object. before or
// after is nil if the object does not exist.
type step struct {
	seq           int
	watch         *meta.GroupResource
	write         *write
	target        target
	before, after tree.Tree
}

func (s step) isChange() bool {
	return s.watch == nil && s.write == nil && (s.before != nil || s.after != nil)
}

// A write is a successful write of the controller.
type write struct {
	target
	seq          int
	body, result tree.Tree
}

// A history holds the known states of an object.
type history struct {
	target
	states  map[uint64]state // by resource version
	own     map[uint64]int   // versions written by the controller, with the Seq of the request
	deletes []int            // Seqs of the controller's deletes
	written bool             // the controller has written the object
	absent  bool             // a read found no object before the first state
}

// A state is one state of an object. For a deletion, object is the last state.
type state struct {
	seq              int
	object           tree.Tree
	removed, watched bool
}

// A world holds the objects on the server and the writes of the controller, derived from entries.
type world struct {
	ignored  func(target) bool
	requests map[int]*write // by Seq
	objects  map[meta.Key]*history
	watched  map[meta.GroupResource]bool
	failed   map[string]bool // lines of failed writes
	writes   []*write        // successful writes
	steps    []step          // watches and writes
}

func newWorld(ignored func(target) bool) *world {
	return &world{ignored: ignored, requests: map[int]*write{}, objects: map[meta.Key]*history{}, watched: map[meta.GroupResource]bool{}, failed: map[string]bool{}}
}

// add adds an entry. It returns the write that the entry completes, or nil.
func (b *world) add(e Entry) *write {
	if e.Method != "" {
		t, ok := parseTarget(e)
		if !ok {
			return nil
		}
		b.requests[e.Seq] = &write{target: t, seq: e.Seq, body: parseBody(e.Body)}
		if t.verb == "watch" && !b.watched[t.GroupResource] && !b.ignored(t) {
			b.watched[t.GroupResource] = true
			b.steps = append(b.steps, step{seq: e.Seq, watch: &t.GroupResource})
		}
		if e.Code == 0 {
			return nil
		}
		e.Request = e.Seq // a read by the recorder
	}
	w := b.requests[e.Request]
	if w == nil {
		return nil
	}
	body := parseBody(e.Body)
	switch {
	case e.Event != "":
		if e.Event == "ADDED" || e.Event == "MODIFIED" || e.Event == "DELETED" {
			b.observe(w.target, body, state{seq: e.Seq, watched: true, removed: e.Event == "DELETED"})
		}
	case w.writes() && e.Code < 300:
		w.result = body
		b.observeWrite(w)
		if !b.ignored(w.target) {
			b.steps, b.writes = append(b.steps, step{seq: w.seq, write: w}), append(b.writes, w)
			return w
		}
	case w.writes():
		b.failed[w.line()] = true
	case w.verb == "get" && w.subresource == "" && e.Code == 404:
		h := b.history(w.target, w.Namespace, w.Name)
		h.absent = h.absent || len(h.states) == 0
	case w.verb == "get" && w.subresource == "" && e.Code == 200:
		b.observe(w.target, body, state{seq: e.Seq})
	case w.verb == "list" && e.Code == 200:
		kind := strings.TrimSuffix(body.String("kind"), "List")
		for _, item := range body.Objects("items") {
			item["kind"], item["apiVersion"] = cmp.Or(item.String("kind"), kind), cmp.Or(item.String("apiVersion"), body.String("apiVersion"))
			b.observe(w.target, item, state{seq: e.Seq})
		}
	}
	return nil
}

// parseBody parses a body. It returns a JSON patch as the field "patch".
func parseBody(text json.RawMessage) tree.Tree {
	v, _ := tree.Decode(text) // a missing body is nil
	if list, ok := v.([]any); ok {
		return tree.Tree{"patch": list}
	}
	t, _ := v.(tree.Tree)
	return t
}

func (b *world) history(t target, namespace, name string) *history {
	t.Namespace, t.Name, t.subresource = namespace, name, ""
	if b.objects[t.Key] == nil {
		b.objects[t.Key] = &history{target: t, states: map[uint64]state{}, own: map[uint64]int{}}
	}
	return b.objects[t.Key]
}

func (b *world) observe(t target, object tree.Tree, s state) *history {
	metadata := object.Object("metadata")
	version, err := strconv.ParseUint(metadata.String("resourceVersion"), 10, 64)
	if err != nil || metadata.String("uid") == "" || object.String("kind") == "PartialObjectMetadata" {
		return nil
	}
	h := b.history(t, metadata.String("namespace"), object.Name())
	s.object = object
	if known, ok := h.states[version]; ok {
		// A watch with a selector reports a DELETED event when an object no longer matches. The
		// write that removes the last finalizer returns the object, although it deletes it.
		s.removed = (s.removed || known.removed) && (s.removed == known.removed || isDeleting(object))
		s.seq, s.watched = min(s.seq, known.seq), s.watched && known.watched
		if known.removed == s.removed {
			s.object = known.object
		}
	}
	h.states[version] = s
	return h
}

func (b *world) observeWrite(w *write) {
	metadata := w.result.Object("metadata")
	h := b.history(w.target, w.Namespace, cmp.Or(w.Name, metadata.String("name")))
	h.written = true
	if w.verb == "delete" && w.subresource == "" {
		h.deletes = append(h.deletes, w.seq)
	}
	version, err := strconv.ParseUint(metadata.String("resourceVersion"), 10, 64)
	if err != nil {
		return // a Status
	}
	if w.subresource != "scale" && w.verb != "delete" {
		b.observe(w.target, w.result, state{seq: w.seq})
	}
	h.own[version] = w.seq
}

// replay returns the objects that existed at a resource version, in dependency order, and all steps
// in order.
func (b *world) replay(since uint64) (initial [][]byte, steps []step) {
	var first, later [][]byte
	namespaces := map[string]bool{"": true}
	steps = b.steps
	keys := slices.SortedFunc(maps.Keys(b.objects), func(a, b meta.Key) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		h := b.objects[key]
		if h.written && b.ignored(h.target) {
			continue
		}
		object, changes := h.replay(since)
		steps = append(steps, changes...)
		switch {
		case object == nil:
		case key.Resource == "customresourcedefinitions":
			first = append(first, document.JSON(object))
		default:
			later = append(later, document.JSON(object))
		}
		if key.Resource == "namespaces" {
			namespaces[key.Name] = true
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int {
		if c := cmp.Compare(a.seq, b.seq); c != 0 || a.isChange() == b.isChange() {
			return c
		}
		return map[bool]int{true: -1, false: 1}[a.isChange()]
	})
	for _, key := range keys {
		if !namespaces[key.Namespace] {
			namespaces[key.Namespace] = true
			first = append(first, document.JSON(tree.Tree{
				"apiVersion": "v1", "kind": "Namespace", "metadata": tree.Tree{"name": key.Namespace, "resourceVersion": "1"}, "status": tree.Tree{"phase": "Active"},
			}))
		}
	}
	return append(first, later...), steps
}

func isDeleting(object tree.Tree) bool { return object.Object("metadata").Has("deletionTimestamp") }

// replay returns the initial state, if any, and the external changes.
func (h *history) replay(since uint64) (initial tree.Tree, changes []step) {
	versions := slices.Sorted(maps.Keys(h.states))
	all := make([]step, len(versions))
	var before tree.Tree
	for i, version := range versions {
		s, after := h.states[version], h.states[version].object
		if s.removed {
			after = nil
		}
		all[i].seq = s.seq
		seq, own := h.own[version]
		switch {
		case own:
			all[i].seq = seq
		case s.removed && len(h.deletes) > 0 && h.deletes[0] < s.seq && !isDeleting(before) && len(before.Object("metadata").List("finalizers")) == 0:
			all[i].seq, h.deletes = h.deletes[0], h.deletes[1:]
		case i == 0 && !s.removed && (version <= since || !s.watched && !h.absent):
			initial = after
		default:
			all[i].target, all[i].before, all[i].after = h.target, before, after
		}
		before = after
	}
	// A change precedes the write that is based on it, even if it was observed later.
	for i := len(all) - 2; i >= 0; i-- {
		all[i].seq = min(all[i].seq, all[i+1].seq)
	}
	return initial, slices.DeleteFunc(all, func(s step) bool { return !s.isChange() })
}

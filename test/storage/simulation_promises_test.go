package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/test/client"
)

// selector matches objects with odd numbers.
const selector = "half=1"

func halfOf(n string) string {
	v, _ := strconv.Atoi(n) // the histories contain only numbers
	return strconv.Itoa(v % 2)
}

// throughSelector returns the event that a watch with the selector receives for e, or false if it
// receives none. before is the object's JSON before the event, or "" if it did not exist.
func throughSelector(before string, e client.Event) (client.Event, bool) {
	var o client.Object
	was := before != "" && json.Unmarshal([]byte(before), &o) == nil && o.Label("half") == "1"
	is := e.Type != client.Deleted && e.Object.Label("half") == "1"
	switch {
	case was && is:
		return client.Event{Type: client.Modified, Object: e.Object}, true
	case is:
		return client.Event{Type: client.Added, Object: e.Object}, true
	case was:
		return client.Event{Type: client.Deleted, Object: e.Object}, true
	}
	return client.Event{}, false
}

// resumeSelected starts a watch with a selector at the previous list's version, and expects the
// events in want.
func (h *simulationHistory) resumeSelected(ctx context.Context, s *server, want []client.Event) error {
	if len(want) == 0 {
		return nil
	}
	w, err := s.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(h.at, 10)}, "labelSelector": {selector}})
	if err != nil {
		return err
	}
	defer w.Close()
	for _, one := range want {
		e, err := w.Next()
		switch {
		case err == nil && e.Type == client.Error && e.Code() == 410 && h.mayForget():
			return nil
		case err != nil || e.Type != one.Type || e.Object.Name() != one.Object.Name() || e.Object.Version() != one.Object.Version():
			return fmt.Errorf("resumed from %d with a selector: %v %w, want %v", h.at, e, err, one)
		case e.Type == client.Deleted && e.Object.Label("half") != "1":
			return fmt.Errorf("resumed from %d with a selector: %v has left it, but the event has the new state", h.at, e)
		}
	}
	return nil
}

// refused handles an unexpected response. It tolerates 507 for a full disk. For other server
// errors, it returns errEnded, which ends the lifetime. Any other response is an error.
func (h *simulationHistory) refused(label string, a client.Answer, err error) error {
	switch {
	case err == nil && a.Code == http.StatusInsufficientStorage:
		h.full++
		return nil
	case err == nil && a.Code >= 500:
		return errEnded
	}
	return fmt.Errorf("%s: %v, %w", label, a, err)
}

// promise checks one random invariant.
func (h *simulationHistory) promise(ctx context.Context, s *server, k *simulationKey) error {
	h.promises++
	switch which := h.random.IntN(8); {
	case which < 3 && k.maybe != nil: // the value is unknown
		return nil
	case which == 0:
		return h.sameAgain(ctx, s, k)
	case which == 1:
		return h.dryRun(ctx, s, k)
	case which == 2:
		return h.otherLife(ctx, s, k)
	case which == 3:
		return h.initialEvents(ctx, s)
	case which == 4:
		return h.finalized(ctx, s)
	case which == 5:
		return h.neighbour(ctx, s)
	case which == 6:
		return h.owned(ctx, s)
	}
	return h.selections(ctx, s)
}

// sameAgain writes an object unchanged, which must not change its resource version.
func (h *simulationHistory) sameAgain(ctx context.Context, s *server, k *simulationKey) error {
	if k.is == none {
		return nil
	}
	a, err := s.Get(ctx, configMaps+"/"+k.name)
	if err != nil || a.Code != 200 {
		return fmt.Errorf("get %s: %v, %w", k.name, a, err)
	}
	is := a.Object()
	if a, err = s.Update(ctx, configMaps+"/"+k.name, is); err == nil && a.Code == 200 {
		a, err = s.Patch(ctx, configMaps+"/"+k.name, map[string]any{"data": map[string]string{"n": is.Data("n")}})
	}
	if err != nil || a.Code != 200 {
		return h.refused("the same again", a, err)
	}
	if a.Object().Version() != is.Version() {
		return fmt.Errorf("%s was at version %d, and is at %d after a write that changes nothing", k.name, is.Version(), a.Object().Version())
	}
	return k.read(a.Object())
}

// dryRun sends a random write as a dry run and checks that nothing changes.
func (h *simulationHistory) dryRun(ctx context.Context, s *server, k *simulationKey) error {
	o, _ := h.object(k)
	method, path, code := http.MethodPost, configMaps, 201
	if k.is != none {
		method, path, code = http.MethodPut, configMaps+"/"+k.name, 200
		if h.random.IntN(2) == 0 {
			method = http.MethodDelete
		}
	}
	a, err := s.Do(ctx, method, path+"?dryRun=All", client.JSON, map[string]any(o))
	if method == http.MethodDelete && err == nil && a.Code == 400 { // a ConfigMap is not a valid DeleteOptions
		a, err = s.Delete(ctx, path+"?dryRun=All", nil)
	}
	if err != nil || a.Code != code {
		return h.refused("dry run of "+method, a, err)
	}
	return h.get(ctx, s, k)
}

// otherLife sends a delete and an update with a wrong UID. Both must conflict.
func (h *simulationHistory) otherLife(ctx context.Context, s *server, k *simulationKey) error {
	if k.is == none {
		return nil
	}
	const other = "11111111-2222-3333-4444-555555555555"
	a, err := s.Delete(ctx, configMaps+"/"+k.name, map[string]any{"preconditions": map[string]any{"uid": other}})
	if err != nil || a.Code != 409 {
		return h.refused("delete of another life", a, err)
	}
	o, _ := h.object(k)
	o.Metadata()["uid"] = other
	if a, err = s.Update(ctx, configMaps+"/"+k.name, o); err != nil || a.Code != 409 {
		return h.refused("update of another life", a, err)
	}
	return h.get(ctx, s, k)
}

// initialEvents starts a watch with initial events and compares them with the model.
func (h *simulationHistory) initialEvents(ctx context.Context, s *server) error {
	w, err := s.Watch(ctx, configMaps, url.Values{"sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}, "allowWatchBookmarks": {"true"}})
	if err != nil {
		return err
	}
	defer w.Close()
	seen := map[string]client.Object{}
	for {
		e, err := w.Next()
		if err != nil {
			return fmt.Errorf("initial events: %w", err)
		}
		if e.Type == client.Bookmark {
			break
		}
		if e.Type != client.Added || seen[e.Object.Name()] != nil {
			return fmt.Errorf("among initial events: %v", e)
		}
		seen[e.Object.Name()] = e.Object
	}
	for _, k := range h.keys {
		if k.maybe != nil {
			continue
		}
		if err := k.read(seen[k.name]); err != nil {
			return fmt.Errorf("in initial events: %w", err)
		}
	}
	return nil
}

// finalized deletes an object that has a finalizer. Until the finalizer is removed, the object
// exists and can be changed, but cannot get new finalizers.
func (h *simulationHistory) finalized(ctx context.Context, s *server) error {
	h.writes++
	o := client.ConfigMap("f"+strconv.Itoa(h.writes), nil, nil)
	o.Metadata()["finalizers"] = []string{"example.com/held"}
	path := configMaps + "/" + o.Name()
	a, err := s.Create(ctx, configMaps, o)
	if err != nil || a.Code != 201 {
		return h.refused("create with a finalizer", a, err)
	}
	if a, err = s.Delete(ctx, path, nil); err != nil || a.Code != 200 {
		return h.refused("delete with a finalizer", a, err)
	}
	if a, err = s.Get(ctx, path); err != nil || a.Code != 200 || a.Object().Metadata()["deletionTimestamp"] == nil {
		return fmt.Errorf("what has a finalizer is deleted: %v, %w", a, err)
	}
	since := a.Object().Metadata()["deletionTimestamp"]
	more := map[string]any{"metadata": map[string]any{"finalizers": []string{"example.com/held", "example.com/more"}}}
	if a, err = s.Patch(ctx, path, more); err != nil || a.Code != 422 {
		return h.refused("a finalizer that comes late", a, err)
	}
	if a, err = s.Patch(ctx, path, map[string]any{"data": map[string]string{"last": "words"}}); err != nil || a.Code != 200 {
		return h.refused("a change of what is going", a, err)
	}
	if a.Object().Metadata()["deletionTimestamp"] != since {
		return fmt.Errorf("it was deleted at %v: %v", since, a)
	}
	if a, err = s.Patch(ctx, path, map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil || a.Code != 200 {
		return h.refused("the last finalizer", a, err)
	}
	if a, err = s.Get(ctx, path); err != nil || a.Code != 404 {
		return fmt.Errorf("what has no finalizer any more stays: %v, %w", a, err)
	}
	return nil
}

// neighbour creates an object in a second namespace, whose name starts with that of the first.
// Lists of the first namespace must not contain it.
func (h *simulationHistory) neighbour(ctx context.Context, s *server) error {
	h.writes++
	namespace := client.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "default-too"}}
	a, err := s.Create(ctx, "/api/v1/namespaces", namespace)
	if err != nil || a.Code != 201 && a.Code != 409 {
		return h.refused("create a second namespace", a, err)
	}
	a, err = s.Create(ctx, "/api/v1/namespaces/default-too/configmaps", client.ConfigMap("n"+strconv.Itoa(h.writes), nil, nil))
	if err != nil || a.Code != 201 {
		return h.refused("create in a second namespace", a, err)
	}
	return h.check(ctx, s)
}

// owned applies a field with two managers. The second must get a conflict without force, and take
// over the field with force.
func (h *simulationHistory) owned(ctx context.Context, s *server) error {
	h.writes++
	name := "o" + strconv.Itoa(h.writes)
	apply := func(manager, value, force string) (client.Answer, error) {
		body := client.ConfigMap(name, nil, map[string]string{"owned": value})
		return s.Do(ctx, http.MethodPatch, configMaps+"/"+name+"?fieldManager="+manager+"&force="+force, "application/apply-patch+yaml", map[string]any(body))
	}
	a, err := apply("one", "1", "false")
	if err != nil || a.Code != 201 {
		return h.refused("the first apply", a, err)
	}
	version := a.Object().Version()
	if a, err = apply("one", "1", "false"); err != nil || a.Code != 200 {
		return h.refused("the apply again", a, err)
	}
	if a.Object().Version() != version {
		return fmt.Errorf("an apply that changes nothing: %v", a)
	}
	if a, err = apply("two", "2", "false"); err != nil || a.Code != 409 {
		return h.refused("an apply of another's field", a, err)
	}
	if a, err = apply("two", "2", "true"); err != nil || a.Code != 200 {
		return h.refused("an apply by force", a, err)
	}
	if a.Object().Data("owned") != "2" || a.Object().Version() <= version {
		return fmt.Errorf("an apply by force: %v", a)
	}
	if a, err = apply("one", "1", "false"); err != nil || a.Code != 409 {
		return h.refused("an apply of what was taken away", a, err)
	}
	return nil
}

// selections compares lists by label and by field with the model.
func (h *simulationHistory) selections(ctx context.Context, s *server) error {
	list, err := s.List(ctx, configMaps, url.Values{"labelSelector": {selector}})
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, o := range list.Items {
		found[o.Name()] = true
	}
	for _, k := range h.keys {
		if want := k.is != none && halfOf(k.is.n) == "1"; k.maybe == nil && found[k.name] != want {
			return fmt.Errorf("%s is %+v, and lists by label have %v", k.name, k.is, slices.Sorted(maps.Keys(found)))
		}
	}
	for _, k := range h.keys {
		if k.maybe != nil {
			continue
		}
		list, err := s.List(ctx, configMaps, url.Values{"fieldSelector": {"metadata.name=" + k.name}})
		if err != nil {
			return err
		}
		if len(list.Items) > 1 || (len(list.Items) == 1) != (k.is != none) {
			return fmt.Errorf("%s is %+v, and a list by name has %v", k.name, k.is, list.Items)
		}
	}
	return nil
}

package storage

import (
	"maps"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/test/client"
)

// An eventLog contains the objects at one version, and all later events of a watch without
// selectors.
type eventLog struct {
	version uint64
	state   map[string]client.Object // objects by key
	events  []client.Event
}

// A view is the namespace and selectors of a list or watch.
type view struct {
	namespace, label, name string
}

func (v view) path() string {
	if v.namespace == "" {
		return "/api/v1/configmaps"
	}
	return "/api/v1/namespaces/" + v.namespace + "/configmaps"
}

func (v view) query() url.Values {
	q := url.Values{}
	if v.label != "" {
		q.Set("labelSelector", "tier="+v.label)
	}
	if v.name != "" {
		q.Set("fieldSelector", "metadata.name="+v.name)
	}
	return q
}

func (v view) matches(o client.Object) bool {
	return (v.namespace == "" || strings.HasPrefix(o.Key(), v.namespace+"/")) &&
		(v.label == "" || o.Label("tier") == v.label) && (v.name == "" || o.Name() == v.name)
}

// at returns the formatted objects of a view at a version, by key.
func (l *eventLog) at(v view, version uint64) map[string]string {
	state := maps.Clone(l.state)
	for _, e := range l.events {
		if e.Object.Version() > version {
			break
		}
		if state[e.Object.Key()] = e.Object; e.Type == client.Deleted {
			delete(state, e.Object.Key())
		}
	}
	seen := map[string]string{}
	for key, o := range state {
		if v.matches(o) {
			seen[key] = o.String()
		}
	}
	return seen
}

// expect returns the events, formatted as lines, that a watch on a view must get between two
// versions.
func (l *eventLog) expect(v view, from, to uint64) (lines []string) {
	state := maps.Clone(l.state)
	for _, e := range l.events {
		version, key := e.Object.Version(), e.Object.Key()
		before, was := state[key]
		if state[key] = e.Object; e.Type == client.Deleted {
			delete(state, key)
		}
		if version <= from || version > to {
			continue
		}
		was = was && v.matches(before)
		is := e.Type != client.Deleted && v.matches(e.Object)
		switch {
		case is && was:
			lines = append(lines, line(client.Modified, e.Object))
		case is:
			lines = append(lines, line(client.Added, e.Object))
		case was && e.Type == client.Deleted:
			lines = append(lines, line(client.Deleted, e.Object))
		case was:
			lines = append(lines, line(client.Deleted, reversion(before, e.Object)))
		}
	}
	return lines
}

func line(kind string, o client.Object) string { return kind + " " + o.String() }

func reversion(o, other client.Object) client.Object {
	next := maps.Clone(o)
	metadata := maps.Clone(o.Metadata())
	metadata["resourceVersion"] = other.Metadata()["resourceVersion"]
	next["metadata"] = metadata
	return next
}

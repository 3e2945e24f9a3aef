package rewrites

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// An Object reports the updates of an object.
type Object struct {
	Resource  string         `json:"resource"` // such as deployments.apps
	Namespace string         `json:"namespace,omitempty"`
	Name      string         `json:"name"`
	Updates   int            `json:"updates"`
	Managers  map[string]int `json:"managers"` // the updates of each manager
	// Fields are the fields that changed back and forth.
	Fields []Fight `json:"fields,omitempty"`

	fights map[string]*Fight // fights by field path
	busy   bool
}

// A Fight reports a field that was repeatedly set back to its previous value.
type Fight struct {
	Path     string `json:"path"`
	Reverted int    `json:"reverted"`
	// Values are the last two values, with their managers. The value of a removed field is "".
	Values [2]Value `json:"values"`
}

// A Value is a field's value in JSON.
type Value struct {
	Value   string `json:"value"`
	Manager string `json:"manager"`
}

// MaxReverts is how often a field may be set back to its previous value.
const MaxReverts = 2

// A Finder counts the writes of objects.
type Finder struct {
	MaxUpdates int // maximum updates of an object by one manager
	objects    map[meta.Key]*Object
}

// Add counts a write, and reports whether Find now returns its object. Add the writes of an object
// in order. A create or delete resets its counts.
func (f *Finder) Add(w Write) (found bool) {
	key := w.Change.Object.Key
	if w.Verb != "update" {
		delete(f.objects, key)
		return false
	}
	if f.objects == nil {
		f.objects = map[meta.Key]*Object{}
	}
	o := f.objects[key]
	if o == nil {
		o = &Object{Resource: key.GroupResource.String(), Namespace: key.Namespace, Name: key.Name, Managers: map[string]int{}, fights: map[string]*Fight{}}
		f.objects[key] = o
	}
	o.Updates++
	o.Managers[w.Manager]++
	o.busy = o.busy || o.Managers[w.Manager] > f.MaxUpdates
	for _, field := range w.Fields {
		o.count(field, w.Manager)
	}
	return o.busy
}

func (o *Object) count(f Field, manager string) {
	last, after := o.fights[f.Path], Value{f.After, manager}
	if last == nil {
		o.fights[f.Path] = &Fight{Path: f.Path, Values: [2]Value{{Value: f.Before}, after}}
		return
	}
	if last.Values[0].Value == f.After {
		last.Reverted++
		o.busy = o.busy || last.Reverted > MaxReverts
	}
	last.Values = [2]Value{last.Values[1], after}
}

// Find returns the objects that one manager has updated more than MaxUpdates times, or that have
// fields that were reverted more than MaxReverts times, most updated objects first.
func (f *Finder) Find() []Object {
	found := []Object{}
	for _, o := range f.objects {
		if !o.busy {
			continue
		}
		report := *o
		for _, path := range slices.Sorted(maps.Keys(o.fights)) {
			if fight := *o.fights[path]; fight.Reverted > MaxReverts {
				for i := range fight.Values {
					v := &fight.Values[i].Value
					if o.Resource == "secrets" && *v != "" {
						*v = "***"
					}
					*v = meta.CutText(*v, maxShown)
				}
				report.Fields = append(report.Fields, fight)
			}
		}
		found = append(found, report)
	}
	slices.SortFunc(found, func(a, b Object) int {
		return cmp.Or(cmp.Compare(b.Updates, a.Updates), cmp.Compare(a.String(), b.String()))
	})
	return found
}

const maxShown = 120 // bytes of a value

// String returns the object's resource, namespace and name, such as deployments.apps/shop/web.
func (o *Object) String() string {
	return path.Join(o.Resource, o.Namespace, o.Name)
}

// Report describes the updates in a few lines.
func (o *Object) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d updates", o, o.Updates)
	for _, m := range slices.Sorted(maps.Keys(o.Managers)) {
		fmt.Fprintf(&b, ", %d by %s", o.Managers[m], ManagerName(m))
	}
	for _, f := range o.Fields {
		fmt.Fprintf(&b, "\n  %s reverted %d times", f.Path, f.Reverted)
		for _, v := range f.Values {
			fmt.Fprintf(&b, "\n    %s by %s", cmp.Or(v.Value, "(removed)"), ManagerName(v.Manager))
		}
	}
	return b.String()
}

// ManagerName returns the name of a manager in reports.
func ManagerName(manager string) string { return cmp.Or(manager, "(unknown)") }

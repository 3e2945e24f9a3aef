package managedfields

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// combineTrees merges config into live, keeping fields that config omits. Unchanged parts share
// memory with live. If nothing changes, the result is live itself.
//
// If l is a list with keys, live {"a":1,"l":[x,y]} and config {"a":2,"l":[y']} yield
// {"a":2,"l":[x,y']}.
func combineTrees(m *schema.Message, live, config tree.Tree) tree.Tree {
	o := overlay{live: live}
	for name, v := range config {
		if f := m.Field(name); f != nil {
			v = combineValues(f, false, live[name], v)
		}
		o.set(name, v)
	}
	return o.tree()
}

// combineValues is combineTrees for one value. An atomic value is replaced as a whole, unless the
// values are equal.
func combineValues(f *schema.Field, element bool, live, config any) any {
	if config == (null{}) {
		return combineNull(f, element, live)
	}
	if live == nil {
		return config
	}
	x, okX := live.(tree.Tree)
	y, okY := config.(tree.Tree)
	switch granularity := granularityOf(f, element); {
	case granularity == byItem && !wrongType(granularity, live) && !wrongType(granularity, config):
		return combineLists(f, live, config)
	case granularity == atomic || granularity == byItem || !okX || !okY || len(x) == 0 && len(y) == 0:
		if tree.StrictEqual(live, config) {
			return live
		}
		return config
	case granularity == byField:
		return combineTrees(f.Message, x, y)
	default:
		o := overlay{live: x}
		for key, v := range y {
			o.set(key, combineValues(f, true, x[key], v))
		}
		return o.tree()
	}
}

// An overlay is a tree with replaced values. It copies the tree once a value differs.
type overlay struct{ live, copied tree.Tree }

func (o *overlay) set(name string, v any) {
	if was, there := o.live[name]; o.copied == nil && there && tree.SameRef(was, v) {
		return
	}
	if o.copied == nil {
		if o.copied = maps.Clone(o.live); o.copied == nil {
			o.copied = tree.Tree{}
		}
	}
	o.copied[name] = v
}

func (o *overlay) tree() tree.Tree {
	switch {
	case o.copied != nil:
		return o.copied
	case o.live == nil:
		return tree.Tree{}
	}
	return o.live
}

// An indexedList finds the items of a list by their path elements. Only live lists can contain
// duplicates, because CheckConfig rejects them in configurations.
type indexedList struct {
	items    []any
	elements []pathElement
	// index maps path elements to item indexes, or to -1 for duplicates.
	index map[pathElement]int
}

// newIndexedList returns an index of the items in v, which must be a list. The map is expensive, so
// callers try combineAligned first.
func newIndexedList(f *schema.Field, v any) indexedList {
	list, _ := v.([]any)
	s := indexedList{items: list, elements: itemElements(f, list), index: make(map[pathElement]int, len(list))}
	for i := range list {
		if _, twice := s.index[s.elements[i]]; twice {
			s.index[s.elements[i]] = -1
		} else {
			s.index[s.elements[i]] = i
		}
	}
	return s
}

func (s indexedList) has(at pathElement) bool { _, ok := s.index[at]; return ok }

func (s indexedList) get(at pathElement) any {
	if i, ok := s.index[at]; ok && i >= 0 {
		return s.items[i]
	}
	return nil
}

// combineLists merges two lists item by item. Items in config follow its order. Other live items
// keep their relative positions where possible. Clients rely on this order of
// structured-merge-diff.
func combineLists(f *schema.Field, live, config any) any {
	if out, ok := combineAligned(f, live, config); ok {
		return out
	}
	x, y := newIndexedList(f, live), newIndexedList(f, config)
	if len(y.items) == 0 {
		return live
	}
	if len(x.items) == 0 {
		return config
	}
	var shared []pathElement // path elements of both lists not yet taken, in the order of config
	for _, s := range y.elements {
		if x.has(s) {
			shared = append(shared, s)
		}
	}
	next := func() {
		if len(shared) > 0 {
			shared = shared[1:]
		}
	}
	out := make([]any, 0, len(x.items)+len(y.items))
	merged := make(map[pathElement]bool, len(y.items))
	take := func(s pathElement) {
		merged[s] = true
		out = append(out, combineValues(f, true, x.get(s), y.get(s)))
	}
	for i, j := 0, 0; i < len(x.items) || j < len(y.items); {
		if i < len(x.items) && j < len(y.items) {
			if x.elements[i] == y.elements[j] {
				take(y.elements[j])
				i, j = i+1, j+1
				next()
				continue
			}
			if y.has(x.elements[i]) && len(shared) > 0 && shared[0] != x.elements[i] {
				i++ // shared, but a later item of config
				continue
			}
		}
		if i < len(x.items) {
			if !y.has(x.elements[i]) {
				out = append(out, x.items[i])
				i++
				continue
			}
			if merged[x.elements[i]] {
				i++
			}
		}
		if j < len(y.items) {
			s := y.elements[j]
			take(s)
			j++
			if len(shared) > 0 && shared[0] == s {
				next()
			}
		}
	}
	return reuse(x.items, out)
}

// combineAligned is the fast path of combineLists for repeated applies. It returns false unless
// live contains the items of config in the same order, with few others in between.
func combineAligned(f *schema.Field, live, config any) (any, bool) {
	x, _ := live.([]any)
	y, _ := config.([]any)
	if len(y) == 0 || !holdsInOrder(f, x, y) {
		return nil, false
	}
	out := x
	for i, j := 0, 0; j < len(y); i++ {
		if !sameItem(f, x[i], y[j]) {
			continue
		}
		v := combineValues(f, true, x[i], y[j])
		j++
		if tree.SameRef(v, x[i]) {
			continue
		}
		if tree.SameRef(out, x) {
			out = slices.Clone(x)
		}
		out[i] = v
	}
	return out, true
}

func holdsInOrder(f *schema.Field, live, config []any) bool {
	if others := len(live) - len(config); others < 0 || others > maxOthers {
		return false
	}
	found := 0
	for _, item := range live {
		switch {
		case found < len(config) && sameItem(f, item, config[found]):
			found++
		case len(live) == len(config) || !isOther(f, item, config):
			return false
		}
	}
	return found == len(config)
}

func reuse(live, out []any) []any {
	if slices.EqualFunc(live, out, tree.SameRef) {
		return live
	}
	return out
}

// combineNull returns the result of setting a value to null. A granular value keeps its fields and
// items, because other managers may own them.
func combineNull(f *schema.Field, element bool, live any) any {
	granularity, parts := granularityOf(f, element), 0
	if !element {
		live = encodedValue(f, live)
	}
	switch v := live.(type) {
	case tree.Tree:
		if parts = len(v); granularity == byField && hasEmitEmpty(f.Message) {
			parts++
		}
	case []any:
		if !wrongType(granularity, v) { // a list where any type is allowed is atomic
			parts = len(v)
		}
	}
	if granularity == atomic || parts == 0 {
		return null{}
	}
	return live
}

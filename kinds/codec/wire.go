package codec

import (
	"cmp"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A wireMessage is a message as Protobuf sees it: fields by number, with the inlined messages nested.
//
// Go types embed structs, such as the VolumeSource in a Volume. In JSON the fields of both are on one
// level; in Protobuf the embedded struct is a message of its own. So schema.Field.Wire of hostPath in
// Volume is [2, 1]: field 1 of the message that is field 2.
type wireMessage struct {
	nodes []*wireNode // in the order of their numbers

	// Of the whole message, not of one that is inlined: all fields, however deep they are inlined.
	ranked []*wireNode          // in the order in which they are written
	inJSON []*wireNode          // in the order in which JSON has them
	byName map[string]*wireNode // by their names in JSON
	nested bool                 // some are inlined
}

// A wireNode is a field, or an inlined message.
type wireNode struct {
	number int32
	field  *schema.Field
	rank   int          // of a field: its place in ranked
	inner  *wireMessage // set for an inlined message
}

// emitsZero tells whether the field is written even if it is absent. Lists and maps never are.
func (n *wireNode) emitsZero() bool {
	return n.field.WireEmitEmpty && n.field.Shape == schema.Single
}

// wirePlans holds the *wireMessage of each *schema.Message that was asked for. Only
// built-in kinds have Protobuf, so it stays as small as the catalogue.
var wirePlans sync.Map

// wireOf is the Protobuf form of a plan. It is made when it is first needed: most kinds are never asked
// for in Protobuf.
func wireOf(m *schema.Message) *wireMessage {
	if w, ok := wirePlans.Load(m); ok {
		return w.(*wireMessage)
	}
	w := &wireMessage{byName: map[string]*wireNode{}}
	for _, f := range m.Fields {
		if len(f.Wire) == 0 {
			continue // it exists in JSON only
		}
		leaf := w.add(f, f.Wire)
		w.inJSON = append(w.inJSON, leaf)
		w.byName[f.Name] = leaf
		w.nested = w.nested || len(f.Wire) > 1
	}
	w.sort()
	w.rank(w.nodes)
	actual, _ := wirePlans.LoadOrStore(m, w)
	return actual.(*wireMessage)
}

// add puts a field where its numbers lead.
func (w *wireMessage) add(f *schema.Field, path []int32) *wireNode {
	if len(path) == 1 {
		leaf := &wireNode{number: path[0], field: f}
		w.nodes = append(w.nodes, leaf)
		return leaf
	}
	n := w.node(path[0])
	if n == nil || n.inner == nil {
		n = &wireNode{number: path[0], inner: &wireMessage{}}
		w.nodes = append(w.nodes, n)
	}
	return n.inner.add(f, path[1:])
}

// rank numbers the fields of nodes in the order in which they are written.
func (w *wireMessage) rank(nodes []*wireNode) {
	for _, n := range nodes {
		if n.inner != nil {
			w.rank(n.inner.nodes)
			continue
		}
		n.rank = len(w.ranked)
		w.ranked = append(w.ranked, n)
	}
}

// leaf finds a field by its name in JSON; nil if there is none. next is where in inJSON it is looked for first: stored
// documents have their fields in that order, so it is mostly there or a little further on.
func (w *wireMessage) leaf(name string, next *int) *wireNode {
	const near = 8
	for i := *next; i < min(*next+near, len(w.inJSON)); i++ {
		if w.inJSON[i].field.Name == name {
			*next = i + 1
			return w.inJSON[i]
		}
	}
	return w.byName[name]
}

// sort puts the fields into the order of their numbers, in which they are written.
func (w *wireMessage) sort() {
	slices.SortFunc(w.nodes, func(a, b *wireNode) int { return cmp.Compare(a.number, b.number) })
	for _, n := range w.nodes {
		if n.inner != nil {
			n.inner.sort()
		}
	}
}

// node finds a node by its number; nil if there is none.
//
// Most messages number their fields from 1 without gaps, so it is mostly found where its number says.
func (w *wireMessage) node(number int32) *wireNode {
	if i := int(number) - 1; i >= 0 && i < len(w.nodes) && w.nodes[i].number == number {
		return w.nodes[i]
	}
	for _, n := range w.nodes {
		if n.number == number {
			return n
		}
	}
	return nil
}

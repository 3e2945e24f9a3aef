package codec

import (
	"cmp"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A wireMessage is a message as Protobuf sees it: fields by number, with the inlined messages nested.
type wireMessage struct {
	nodes []*wireNode
}

// A wireNode is a field, or an inlined message.
type wireNode struct {
	number int32
	field  *schema.Field
	inner  *wireMessage // set for an inlined message
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
	w := &wireMessage{}
	for _, f := range m.Fields {
		w.add(f, f.Wire)
	}
	w.sort()
	actual, _ := wirePlans.LoadOrStore(m, w)
	return actual.(*wireMessage)
}

// add puts a field where its numbers lead. A field without numbers exists in JSON only.
func (w *wireMessage) add(f *schema.Field, path []int32) {
	switch len(path) {
	case 0:
	case 1:
		w.nodes = append(w.nodes, &wireNode{number: path[0], field: f})
	default:
		n := w.node(path[0])
		if n == nil || n.inner == nil {
			n = &wireNode{number: path[0], inner: &wireMessage{}}
			w.nodes = append(w.nodes, n)
		}
		n.inner.add(f, path[1:])
	}
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

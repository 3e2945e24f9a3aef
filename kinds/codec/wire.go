package codec

import (
	"cmp"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A wireMessage describes the Protobuf form of a message, with fields by number. An embedded Go
// struct is inlined in JSON but is a nested message in Protobuf. For example, hostPath in a Volume
// has the schema.Field.Wire [2, 1], because it is field 1 of the message in field 2.
type wireMessage struct {
	nodes []*wireNode

	// The following fields are set only in an outermost message. They include the fields of
	// inlined messages.
	ranked []*wireNode // in output order
	inJSON []*wireNode // in JSON order
	byName map[string]*wireNode
	nested bool // some fields are inlined
}

type wireNode struct {
	number int32
	field  *schema.Field
	rank   int          // index of a field in ranked
	inner  *wireMessage // form of an inlined message
}

// emitsZero reports whether Protobuf contains the field even if it is absent in JSON.
func (n *wireNode) emitsZero() bool {
	return n.field.WireEmitEmpty && n.field.Shape == schema.Single
}

// wirePlans caches the *wireMessage of each *schema.Message. Only built-in kinds have a Protobuf
// form, so its size is bounded.
var wirePlans sync.Map

// wireOf returns the Protobuf form of a message. It builds the form on first use, because most
// kinds are never requested in Protobuf.
func wireOf(m *schema.Message) *wireMessage {
	if w, ok := wirePlans.Load(m); ok {
		return w.(*wireMessage)
	}
	w := &wireMessage{byName: map[string]*wireNode{}}
	for _, f := range m.Fields {
		if len(f.Wire) == 0 {
			continue // JSON only
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

// leaf returns the field with the given name. It first searches near *next in inJSON, because
// stored documents list their fields in that order.
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

func (w *wireMessage) sort() {
	slices.SortFunc(w.nodes, func(a, b *wireNode) int { return cmp.Compare(a.number, b.number) })
	for _, n := range w.nodes {
		if n.inner != nil {
			n.inner.sort()
		}
	}
}

// node returns the node with the given number, or nil. It tries index number-1 first, because most
// messages number their fields from 1 without gaps.
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

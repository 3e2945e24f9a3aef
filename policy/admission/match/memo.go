package match

import (
	"sync"
	"sync/atomic"
	"weak"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// resource is what rules are worked out for, by its name.
type resource struct {
	meta.GroupVersionKind
	plural, sub string
}

// A memo keeps what was worked out for resources. Who reads it waits for nobody.
//
// Kinds are replaced when their definitions change, and go with them. The memo keeps none of them alive: a value
// must not refer to its kind, and counts only for the very kind that it was worked out for.
type memo[V any] struct {
	last  atomic.Pointer[remembered[V]] // what was asked for last, which is mostly asked for again
	known sync.Map                      // resource to *remembered[V]
	mu    sync.Mutex                    // guards what follows
	size  int                           // of known
	limit int                           // size at which it is swept
}

// remembered is what was worked out for one kind.
type remembered[V any] struct {
	kind  weak.Pointer[schema.Kind]
	sub   string
	value V
}

func (r *remembered[V]) isOf(k *schema.Kind, sub string) bool {
	return r != nil && r.sub == sub && r.kind.Value() == k
}

// minSweep is the size below which a memo is not worth sweeping.
const minSweep = 64

// get is what is known of a resource, worked out if need be.
func (m *memo[V]) get(k *schema.Kind, sub string, workOut func() V) V {
	if r := m.last.Load(); r.isOf(k, sub) {
		return r.value
	}
	at := resource{k.GroupVersionKind, k.Resource, sub}
	known, _ := m.known.Load(at)
	r, _ := known.(*remembered[V])
	if !r.isOf(k, sub) {
		r = &remembered[V]{weak.Make(k), sub, workOut()}
		m.put(at, r)
	}
	m.last.Store(r)
	return r.value
}

// put remembers a value, in place of what is known of a former kind of the name. From time to time it forgets kinds
// that are gone, so that a memo is never more than twice as large as what is served.
func (m *memo[V]) put(at resource, r *remembered[V]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, replaced := m.known.Swap(at, r); replaced {
		return
	}
	if m.size++; m.size <= max(m.limit, minSweep) {
		return
	}
	m.size = 0
	m.known.Range(func(at, known any) bool {
		if known.(*remembered[V]).kind.Value() == nil {
			m.known.Delete(at)
		} else {
			m.size++
		}
		return true
	})
	m.limit = 2 * m.size
}

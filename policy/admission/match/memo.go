package match

import (
	"sync"
	"sync/atomic"
	"weak"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

type resource struct {
	meta.GroupVersionKind
	plural, sub string
}

// A memo caches results per resource. Reads do not block.
//
// A result is valid only for the *schema.Kind for which it was computed, because a change to a CRD
// replaces its kinds. Results must not contain pointers to their kind, which would keep replaced
// kinds in memory.
type memo[V any] struct {
	last  atomic.Pointer[remembered[V]] // the last result, which is often used again
	known sync.Map                      // resource to *remembered[V]
	mu    sync.Mutex                    // guards the fields below
	size  int                           // number of entries in known
	limit int                           // size that triggers the next sweep
}

type remembered[V any] struct {
	kind  weak.Pointer[schema.Kind]
	sub   string
	value V
}

func (r *remembered[V]) isOf(k *schema.Kind, sub string) bool {
	return r != nil && r.sub == sub && r.kind.Value() == k
}

const minSweep = 64

// get returns the cached result for a resource. On a miss, it calls workOut and caches the result.
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

// put caches a value. It occasionally removes the entries of kinds that no longer exist, so that at
// most about half of the entries are stale.
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

package ownership

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A parsedSet is what a FieldsV1 text says under a plan.
//
// It is shared by all who ask for the same text, and never changed.
type parsedSet struct {
	text       string
	set        Set  // in line with the plan; empty if the text cannot be read
	reconciled bool // the plan has changed since the text was written
	canonical  bool // the text is what AppendJSON writes for the set
}

// parseCached reads the text of a stored object, which could be read when it was written. plan is nil for
// a version that is not served any more.
func parseCached(text string, plan *schema.Message) parsedSet {
	if len(text) > maxCachedText {
		return parseReconciled(text, plan)
	}
	r, ok := sharedParseCache.get(parseCacheKey{text, planID(plan)})
	if !ok {
		r = parseReconciled(strings.Clone(text), plan) // a copy, so that the cache does not keep whole objects alive
		sharedParseCache.add(r, planID(plan))
	}
	return r
}

// parseReconciled parses a text. One that cannot be read gives an empty set: the manager then owns
// nothing.
func parseReconciled(text string, plan *schema.Message) parsedSet {
	s, _ := Parse(text)
	r := parsedSet{text: text, set: s}
	if plan != nil {
		r.set = Reconciled(plan, s)
		r.reconciled = !sameRef(r.set, s)
	}
	r.canonical = string(r.set.AppendJSON(nil)) == text
	return r
}

// Texts up to maxCachedText bytes are cached, about parseCacheSize bytes of them.
const (
	maxCachedText  = 8 << 10
	parseCacheSize = 256 << 10
)

// sharedParseCache holds recently parsed texts: most objects share their texts with many others.
var sharedParseCache parseCache

// A parseCache holds parsed sets by text and plan, in two generations: when the recent one is full it
// becomes the old one, and what was old is dropped. What is used stays, without a list to maintain on each
// access.
type parseCache struct {
	mu          sync.Mutex // of all fields
	recent, old map[parseCacheKey]parsedSet
	size        int // of the texts in recent, in bytes
}

type parseCacheKey struct {
	text string
	plan any // a planID
}

// planID stands for a plan. That of a custom kind is large, and must not be kept alive by what was read under it.
func planID(plan *schema.Message) any {
	if plan != nil && plan.Custom != nil {
		return plan.Custom.SchemaID
	}
	return plan
}

// get finds a parsed set, and keeps it for longer.
func (m *parseCache) get(at parseCacheKey) (parsedSet, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.recent[at]
	if !ok {
		if r, ok = m.old[at]; ok {
			m.put(r, at.plan)
		}
	}
	return r, ok
}

func (m *parseCache) add(r parsedSet, plan any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(r, plan)
}

func (m *parseCache) put(r parsedSet, plan any) {
	if m.recent == nil || m.size+len(r.text) > parseCacheSize/2 {
		m.recent, m.old, m.size = map[parseCacheKey]parsedSet{}, m.recent, 0
	}
	m.recent[parseCacheKey{r.text, plan}] = r
	m.size += len(r.text)
}

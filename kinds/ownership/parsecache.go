package ownership

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A parsedSet is a parsed FieldsV1 text under a plan. It is shared and immutable.
type parsedSet struct {
	text       string
	set        Set  // reconciled with the plan; empty for malformed text
	reconciled bool // the plan has changed since the text was written
	canonical  bool // AppendJSON writes the same text
}

// parseCached parses the text of a stored object. plan is nil for a version that is no longer
// served.
func parseCached(text string, plan *schema.Message) parsedSet {
	if len(text) > maxCachedText {
		return parseReconciled(text, plan)
	}
	r, ok := sharedParseCache.get(parseCacheKey{text, planID(plan)})
	if !ok {
		// a copy, so that the cache does not retain whole objects
		r = parseReconciled(strings.Clone(text), plan)
		sharedParseCache.add(r, planID(plan))
	}
	return r
}

// parseReconciled parses a text. Malformed text yields an empty set, so the manager owns nothing.
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

// Texts up to maxCachedText bytes are cached, about parseCacheSize bytes in total.
const (
	maxCachedText  = 8 << 10
	parseCacheSize = 256 << 10
)

var sharedParseCache parseCache

// A parseCache holds parsed sets by text and plan in two generations. When the recent one is full,
// it replaces the old one. Used entries survive without a list to maintain on each access.
type parseCache struct {
	mu          sync.Mutex // guards all fields
	recent, old map[parseCacheKey]parsedSet
	size        int // bytes of the texts in recent
}

type parseCacheKey struct {
	text string
	plan any // from planID
}

// planID identifies a plan. The cache must not retain the plan of a custom kind, which is large.
func planID(plan *schema.Message) any {
	if plan != nil && plan.Custom != nil {
		return plan.Custom.SchemaID
	}
	return plan
}

// get moves entries that it finds to the recent generation.
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

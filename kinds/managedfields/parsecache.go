package managedfields

import (
	"strings"

	"github.com/troupe-api/troupe/internal/cache"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A parsedSet is the result of parsing FieldsV1 with a plan. It is shared and immutable.
type parsedSet struct {
	text       string
	set        Set  // reconciled with the plan; empty for malformed text
	reconciled bool // the plan has changed since the text was written
	canonical  bool // AppendJSON writes the same text
}

// parseCached parses FieldsV1 through the cache. plan is nil for a version that is not served.
func parseCached(text string, plan *schema.Message) parsedSet {
	if len(text) > maxCachedText {
		return parseReconciled(text, plan)
	}
	r, ok := sharedParseCache.Get(parseCacheKey{text, planID(plan)})
	if !ok {
		// Clone the text, so that the cache does not retain whole objects.
		r = parseReconciled(strings.Clone(text), plan)
		sharedParseCache.Put(parseCacheKey{r.text, planID(plan)}, r, len(r.text))
	}
	return r
}

// parseReconciled parses FieldsV1. Malformed text yields an empty set, so that its manager owns
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

// The cache retains about parseCacheSize bytes of FieldsV1, and no text longer than maxCachedText.
const (
	maxCachedText  = 8 << 10
	parseCacheSize = 256 << 10
)

var sharedParseCache = cache.New[parseCacheKey, parsedSet](parseCacheSize)

type parseCacheKey struct {
	text string
	plan any // from planID
}

// planID identifies a plan in cache keys. The cache must not retain the large plan of a custom
// kind.
func planID(plan *schema.Message) any {
	if plan != nil && plan.Custom != nil {
		return plan.Custom.SchemaID
	}
	return plan
}

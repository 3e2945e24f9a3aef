package plugins

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An EventLimit is one limit of EventRateLimit. QPS and Burst must be positive.
type EventLimit struct {
	Type  EventLimitType
	QPS   int32 // tokens per second and bucket
	Burst int32 // capacity of a bucket
	// CacheSize limits the number of buckets. 0 means 4096. The Server limit has only one bucket.
	CacheSize int32
}

// An EventLimitType selects which Events share a bucket.
type EventLimitType string

const (
	ServerLimit          EventLimitType = "Server"
	NamespaceLimit       EventLimitType = "Namespace"
	UserLimit            EventLimitType = "User"
	SourceAndObjectLimit EventLimitType = "SourceAndObject"
)

// eventLimitTypes is sorted for error messages.
var eventLimitTypes = []EventLimitType{NamespaceLimit, ServerLimit, SourceAndObjectLimit, UserLimit}

// defaultLimitCacheSize keeps the memory of one limit well below a megabyte.
const defaultLimitCacheSize = 4096

func (l EventLimit) cacheEntries() int {
	if l.CacheSize == 0 {
		return defaultLimitCacheSize
	}
	return int(l.CacheSize)
}

// ParseEventLimits parses the required configuration of EventRateLimit. The error joins all faults.
// Unknown fields are errors, because a mistyped limit would not be enforced.
func ParseEventLimits(t tree.Tree, naming *meta.Naming) ([]EventLimit, error) {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	checkFields := func(t tree.Tree, path string, known ...string) {
		for _, name := range t.SortedKeys() {
			check(slices.Contains(known, name), "%s: unknown field", tree.FieldPath(path, name))
		}
	}
	if t != nil {
		version := naming.Group("eventratelimit.admission") + "/v1alpha1"
		check(t.String("apiVersion") == version, "apiVersion: %q is not %s", t.String("apiVersion"), version)
		check(t.String("kind") == "Configuration", "kind: %q is not Configuration", t.String("kind"))
	}
	checkFields(t, "", "apiVersion", "kind", "limits")
	check(len(t.List("limits")) > 0, "limits: must not be empty")
	var limits []EventLimit
	for i, one := range t.Objects("limits") {
		path := tree.IndexPath("limits", i)
		checkFields(one, path, "type", "qps", "burst", "cacheSize")
		number := func(name string) int32 {
			n, ok := one.Int(name)
			check(ok || !one.Has(name), "%s.%s: must be a whole number", path, name)
			check(n <= math.MaxInt32, "%s.%s: %d is too large", path, name, n)
			return int32(max(math.MinInt32, min(n, math.MaxInt32)))
		}
		l := EventLimit{EventLimitType(one.String("type")), number("qps"), number("burst"), number("cacheSize")}
		check(slices.Contains(eventLimitTypes, l.Type), "%s.type: %q: must be one of %s", path, l.Type, joinTypes(eventLimitTypes))
		check(l.Burst > 0, "%s.burst: must be positive", path)
		check(l.QPS > 0, "%s.qps: must be positive", path)
		check(l.CacheSize >= 0 || l.Type == ServerLimit, "%s.cacheSize: must not be negative", path)
		limits = append(limits, l)
	}
	return limits, errors.Join(faults...)
}

func joinTypes(types []EventLimitType) string {
	var texts []string
	for _, t := range types {
		texts = append(texts, string(t))
	}
	return strings.Join(texts, ", ")
}

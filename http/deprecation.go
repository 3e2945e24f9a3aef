package http

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
)

// warnDeprecated warns a client that asks for a version which is going to be removed.
func (s *Server) warnDeprecated(x *requestContext) {
	if x.kind.Deprecation == nil {
		return
	}
	x.addWarnings([]string{deprecationWarning(x.kind)})
	if x.audit != nil {
		x.audit.SetDeprecated(x.kind.Deprecation.Removed)
	}
	k := x.kind
	key := deprecatedKey{k.Group, k.Version, k.Resource, x.info.Subresource, k.Deprecation.Removed}
	loadOrAdd(&s.metrics.mu, &s.metrics.deprecated, key)
}

// A deprecatedKey is a deprecated version of a resource that was asked for.
type deprecatedKey struct{ group, version, resource, subresource, removed string }

func (k deprecatedKey) labels() string {
	return fmt.Sprintf("group=%q,removed_release=%q,resource=%q,subresource=%q,version=%q",
		k.group, k.removed, k.resource, k.subresource, k.version)
}

func (m *Metrics) writeDeprecated(b *bytes.Buffer) {
	const name = "apiserver_requested_deprecated_apis"
	writeHelp(b, name, "gauge", "Deprecated versions that were asked for since the start.")
	keys := slices.SortedFunc(maps.Keys(*m.deprecated.Load()), func(a, b deprecatedKey) int { return cmp.Compare(a.labels(), b.labels()) })
	for _, k := range keys {
		writeSample(b, name, k.labels(), "1")
	}
}

// deprecationWarning is the warning, in the words that users know.
func deprecationWarning(k *schema.Kind) string {
	d := k.Deprecation
	if d.Warning != "" {
		return d.Warning
	}
	text := k.APIVersion() + " " + k.Kind + " is deprecated"
	if d.Since != "" {
		text += " in v" + d.Since + "+"
	}
	if d.Removed != "" {
		text += fmt.Sprintf(", unavailable in v%s+", d.Removed)
	}
	if d.Replacement != "" {
		text += "; use " + d.Replacement
	}
	return text
}

package http

import (
	"fmt"

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
	s.requestMetrics.MarkDeprecated(x.kind, x.info.Subresource)
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

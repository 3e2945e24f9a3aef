package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateProbe checks what depends on the use of a probe. once requires a successThreshold of 1. One
// success says that a container is alive or has started; only readiness may want to see several. A grace
// period is for the restart that a failed probe causes, and readiness causes none.
func validateProbe(p tree.Tree, path string, once bool, faults *schema.Faults) {
	validateHeaders(p.Object("httpGet"), path+".httpGet", faults)
	field.NonNegative(p, path, faults, "successThreshold")
	if n, ok := p.Int("successThreshold"); once && ok && n != 1 {
		faults.Invalid(path+".successThreshold", n, "must be 1")
	}
	if n, ok := p.Int("terminationGracePeriodSeconds"); ok && n > 0 && !once {
		faults.Invalid(path+".terminationGracePeriodSeconds", n, "must not be set for readinessProbes")
	}
}

// validateHeaders checks the names of the headers that a request of a probe or a handler has. The path of the fault is that of the
// list, as clients know it.
func validateHeaders(request tree.Tree, path string, faults *schema.Faults) {
	for _, h := range request.Objects("httpHeaders") {
		for _, msg := range rules.HeaderName(h.String("name")) {
			faults.Invalid(path+".httpHeaders", h.String("name"), msg)
		}
	}
}

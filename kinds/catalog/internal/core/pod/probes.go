package pod

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateProbe checks a probe. once requires a successThreshold of 1.
func validateProbe(p tree.Tree, path string, once bool, faults *schema.Faults) {
	if p == nil {
		return
	}
	validateHandler(p, path, faults, "exec", "httpGet", "tcpSocket", "grpc")
	field.NonNegative(p, path, faults, "successThreshold")
	if n, ok := p.Int("successThreshold"); once && ok && n != 1 {
		faults.Invalid(path+".successThreshold", n, "must be 1")
	}
	if n, ok := p.Int("terminationGracePeriodSeconds"); ok && n <= 0 {
		faults.Invalid(path+".terminationGracePeriodSeconds", n, "must be greater than 0")
	} else if ok && !once {
		faults.Invalid(path+".terminationGracePeriodSeconds", n, "must not be set for readinessProbes")
	}
}

// validateHandler requires exactly one of the named handlers.
func validateHandler(h tree.Tree, path string, faults *schema.Faults, names ...string) {
	n := 0
	for _, name := range names {
		sub := h.Object(name)
		if sub == nil {
			continue
		}
		if n++; n > 1 {
			faults.Forbidden(path+"."+name, "may not specify more than 1 handler type")
			continue
		}
		validateAction(name, sub, path+"."+name, faults)
	}
	if n == 0 {
		faults.Required(path, "must specify a handler type")
	}
}

func validateAction(name string, a tree.Tree, path string, faults *schema.Faults) {
	switch name {
	case "exec":
		field.Require(a, path, faults, "command")
	case "httpGet":
		field.IntOrStringPort(a["port"], path+".port", faults)
		for i, h := range a.Objects("httpHeaders") {
			at, header := tree.IndexPath(path+".httpHeaders", i)+".name", h.String("name")
			for _, msg := range rules.HeaderName(header) {
				faults.Invalid(at, header, msg)
			}
		}
	case "tcpSocket", "grpc":
		field.IntOrStringPort(a["port"], path+".port", faults)
	case "sleep":
		if n, _ := a.Int("seconds"); n < 0 {
			faults.Invalid(path+".seconds", n, field.NonNegativeMsg)
		}
	}
}

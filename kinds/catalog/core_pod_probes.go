package catalog

import (
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// validateProbe checks a probe; once: its success threshold must be 1.
func validateProbe(p schema.Tree, path string, once bool, faults *schema.Faults) {
	if p == nil {
		return
	}
	validateHandler(p, path, faults, "exec", "httpGet", "tcpSocket", "grpc")
	validateNonNegative(p, path, faults, "successThreshold")
	if n, ok := rules.Int(p, "successThreshold"); once && ok && n != 1 {
		faults.Invalid(path+".successThreshold", n, "must be 1")
	}
	if n, ok := rules.Int(p, "terminationGracePeriodSeconds"); ok && n <= 0 {
		faults.Invalid(path+".terminationGracePeriodSeconds", n, "must be greater than 0")
	} else if ok && !once {
		faults.Invalid(path+".terminationGracePeriodSeconds", n, "must not be set for readinessProbes")
	}
}

// validateHandler wants exactly one of the named handlers.
func validateHandler(h schema.Tree, path string, faults *schema.Faults, names ...string) {
	n := 0
	for _, name := range names {
		sub := rules.Nested(h, name)
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

func validateAction(name string, a schema.Tree, path string, faults *schema.Faults) {
	switch name {
	case "exec":
		requireFields(a, path, faults, "command")
	case "httpGet":
		validatePort(a, path, faults)
		for i, h := range rules.Trees(a, "httpHeaders") {
			at, header := rules.IndexPath(path+".httpHeaders", i)+".name", rules.String(h, "name")
			for _, msg := range rules.HeaderName(header) {
				faults.Invalid(at, header, msg)
			}
		}
	case "tcpSocket", "grpc":
		validatePort(a, path, faults)
	case "sleep":
		if n, _ := rules.Int(a, "seconds"); n < 0 {
			faults.Invalid(path+".seconds", n, nonNegativeMsg)
		}
	}
}

// validatePort checks a port that is a number or the name of one.
func validatePort(t schema.Tree, path string, faults *schema.Faults) {
	at := path + ".port"
	switch port := t["port"].(type) {
	case string:
		for _, msg := range rules.PortName(port) {
			faults.Invalid(at, port, msg)
		}
	case int64:
		if port < 1 || port > 65535 {
			faults.Invalid(at, port, boundsMsg(1, 65535))
		}
	default:
		faults.Invalid(at, int64(0), boundsMsg(1, 65535))
	}
}

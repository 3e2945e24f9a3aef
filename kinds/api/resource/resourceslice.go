package resource

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func validatePoolName(name, path string, faults *schema.Faults) {
	if name == "" {
		return
	}
	if len(name) > 253 {
		faults.TooLong(path, 253)
	}
	for _, part := range strings.Split(name, "/") {
		for _, msg := range rules.Subdomain(part) {
			faults.Invalid(path, part, msg)
		}
	}
}

// Maximum lengths of the parts of an attribute name, in bytes.
const (
	maxAttributeDomain = 63
	maxAttributeName   = 32
)

// validateAttributeName checks the name of an attribute or capacity. The domain before the slash is
// optional and defaults to the driver's. As in kube-apiserver, a name with several slashes is not
// checked.
func validateAttributeName(name, path string, faults *schema.Faults) {
	domain, id, qualified := strings.Cut(name, "/")
	switch {
	case !qualified:
		id = name
	case strings.Contains(id, "/"):
		return
	case domain == "":
		faults.Invalid(path, "", "the domain must not be empty")
	default:
		if len(domain) > maxAttributeDomain {
			faults.TooLong(path, maxAttributeDomain)
		}
		for _, msg := range rules.Subdomain(domain) {
			faults.Invalid(path, domain, msg)
		}
	}
	if qualified && id == "" {
		faults.Invalid(path, "", "the name must not be empty")
		return
	}
	if len(id) > maxAttributeName {
		faults.TooLong(path, maxAttributeName)
	}
	for _, msg := range rules.CIdentifier(id) {
		faults.Invalid(path, id, msg)
	}
}

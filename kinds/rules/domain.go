package rules

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Patterns for names that contain a domain.
const (
	wildcardPattern = `\*\.` + subdomainPattern
	urlPathPattern  = `[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`
)

var (
	wildcardRE = anchored(wildcardPattern)
	urlPathRE  = anchored(urlPathPattern)
)

// WildcardSubdomain checks that s is a DNS subdomain of at most 253 bytes whose first label is "*".
// For example, "*.example.com" is valid, but "*", "a.*.com" and "*.*.com" are not.
func WildcardSubdomain(s string) []string {
	return checkName(s, 253, wildcardRE.MatchString, "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
		wildcardPattern, "*.example.com")
}

// A DomainFault is an error in one part of a name. Value is the invalid part.
type DomainFault struct{ Value, Message string }

// DomainPath checks that s is a domain followed by a path, such as "acme.io/foo".
func DomainPath(s string) []DomainFault {
	domain, path, _ := strings.Cut(s, "/")
	if domain == "" || path == "" {
		return []DomainFault{{s, `must be a domain-prefixed path (such as "acme.io/foo")`}}
	}
	var faults []DomainFault
	for _, msg := range Subdomain(domain) {
		faults = append(faults, DomainFault{domain, msg})
	}
	if !urlPathRE.MatchString(path) {
		faults = append(faults, DomainFault{path, "Invalid path (regex used for validation is '" + urlPathPattern + "')"})
	}
	return faults
}

// FullDomain checks that s is a domain of at least two labels, with an optional final dot. For
// example, "example.com" and "example.com." are valid, but "localhost" is not.
func FullDomain(s string) []DomainFault {
	s = strings.TrimSuffix(s, ".")
	if msgs := Subdomain(s); len(msgs) > 0 {
		return []DomainFault{{s, strings.Join(msgs, ",")}}
	}
	labels := strings.Split(s, ".")
	if len(labels) < 2 {
		return []DomainFault{{s, "should be a domain with at least two segments separated by dots"}}
	}
	var faults []DomainFault
	for _, label := range labels {
		if msgs := Label(label); len(msgs) > 0 {
			faults = append(faults, DomainFault{label, strings.Join(msgs, ",")})
		}
	}
	return faults
}

func checkDomain(check func(string) []DomainFault) schema.CheckFunc {
	return schema.TextCheck(func(s, path string, faults *schema.Faults) {
		for _, f := range check(s) {
			faults.Invalid(path, f.Value, f.Message)
		}
	})
}

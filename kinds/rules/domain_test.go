package rules

import (
	"strings"
	"testing"
)

func TestDomains(t *testing.T) {
	messages := func(faults []DomainFault) []string {
		var out []string
		for _, f := range faults {
			out = append(out, f.Value+": "+f.Message)
		}
		return out
	}
	for _, c := range []struct {
		what  string
		check func(string) []string
		text  string
		want  string // prefix of the first fault; "": no fault
	}{
		{"wildcard", WildcardSubdomain, "*.a.b", ""},
		{"wildcard", WildcardSubdomain, "*.", "a wildcard DNS-1123 subdomain must start with '*.'"},
		{"wildcard", WildcardSubdomain, "a.*.b", "a wildcard"},
		{"wildcard", WildcardSubdomain, "*." + strings.Repeat("a", 252), "must be no more than 253 characters"},
		{"path", func(s string) []string { return messages(DomainPath(s)) }, "e.com/a/b", ""},
		{"path", func(s string) []string { return messages(DomainPath(s)) }, "/a", "/a: must be a domain-prefixed path"},
		{"path", func(s string) []string { return messages(DomainPath(s)) }, "e.com/", "e.com/: must be a domain-prefixed path"},
		{"path", func(s string) []string { return messages(DomainPath(s)) }, "E/a", "E: a lowercase RFC 1123 subdomain"},
		{"path", func(s string) []string { return messages(DomainPath(s)) }, "e/#", "#: Invalid path (regex used for validation is"},
		{"domain", func(s string) []string { return messages(FullDomain(s)) }, "a.b.", ""},
		{"domain", func(s string) []string { return messages(FullDomain(s)) }, "a", "a: should be a domain with at least two segments"},
		{"domain", func(s string) []string { return messages(FullDomain(s)) }, "a..b", "a..b: a lowercase RFC 1123 subdomain"},
		{"domain", func(s string) []string { return messages(FullDomain(s)) }, strings.Repeat("a", 64) + ".b", strings.Repeat("a", 64) + ": must be no more than 63 characters"},
	} {
		got := strings.Join(c.check(c.text), "\n")
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %q: %q, want %q", c.what, c.text, got, c.want)
		}
	}
}

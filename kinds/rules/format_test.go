package rules_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/rules"
)

func TestFormats(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	for format, c := range map[string]struct{ good, bad []string }{
		"dns1123Label":     {[]string{"a", "0", "a-b", long(63)}, []string{"", "-a", "a-", "A", "a.b", long(64), "a\n", "{a", "a{b", "a:b", "a/b", "`a"}},
		"dns1123Subdomain": {[]string{"a", "a.b", "a-b.c", long(253)}, []string{"", "a..b", ".a", "a.", "A", "a_b", long(254)}},
		"dns1035Label":     {[]string{"a", "a0"}, []string{"", "0a", "a-", long(64)}},
		"qualifiedName":    {[]string{"a", long(63), "A.b_c-D", "e.com/a", "e.com/" + long(63)}, []string{"", "/a", "a/", "a/b/c", "E.com/a", "a b", long(64), "e.com/" + long(64)}},
		"labelValue":       {[]string{"", "a", "A_b.c-d"}, []string{"-a", "a b", long(64)}},
		"configMapKey":     {[]string{"a", ".a", "A_b-c.d", "a..b"}, []string{"", ".", "..", "..a", "a/b", long(254)}},
		"ip":               {[]string{"10.0.0.1", "::1", "10.0.0.01", "::ffff:10.0.0.1"}, []string{"", "10.0.0", "10.0.0.256", "fe80::1%eth0"}},
		"cidr":             {[]string{"10.0.0.0/8", "::/0"}, []string{"10.0.0.0", "10.0.0.0/33"}},
		"relativePath":     {[]string{"a", "a/b", "..a", "."}, []string{"/a", "..", "a/../b"}},
		"absolutePath":     {[]string{"/", "/a"}, []string{"", "a"}},
		"envVarName":       {[]string{"A", "a.b-c", "1", "a b"}, []string{"", "a=b", "ä"}},
		"portName":         {[]string{"a", "http", "1a", "a-b", long(15)}, []string{"", "1", "A", "a--b", "-a", "a-", long(16)}},
		"httpHeaderName":   {[]string{"X-A"}, []string{"", "a b", "a:"}},
		"percentOfAll":     {[]string{"0%", "100%"}, []string{"", "1", "101%", "-1%", "+200%", "1.5%"}},
		"kindName":         {[]string{"Kind", "a"}, []string{"", "a b", "0a", long(64)}},

		"mixedCaseSubdomain":     {[]string{"A.b", "a"}, []string{"", "A_b", "a..b"}},
		"mixedCaseQualifiedName": {[]string{"E.com/A", "a"}, []string{"", "a b", "a/b/c"}},

		"pathSegment": {[]string{"a:b", "A b", "..."}, []string{".", "..", "a/b", "a%b"}},
	} {
		check, err := rules.FindFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.good {
			if msgs := check(s); len(msgs) > 0 {
				t.Errorf("%s refuses %q: %v", format, s, msgs)
			}
		}
		for _, s := range c.bad {
			if len(check(s)) == 0 {
				t.Errorf("%s accepts %q", format, s)
			}
		}
	}
}

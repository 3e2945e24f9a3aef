package selector

import (
	"fmt"
	"strings"
)

// Error messages for invalid keys and values, as in Kubernetes.
const (
	namePart = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	nameForm = "a valid label key must consist of alphanumeric characters, '-', '_' or '.'; with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
	prefixed = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	valued   = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

// checkKey validates a label key: a name with an optional DNS subdomain and '/' before it. "app"
// and "example.com/app" are valid, but "-app", "a/b/c" and "Example.com/app" are not.
func checkKey(key string) error {
	invalid := func(why string) error { return fmt.Errorf("key: Invalid value: %q: %s", key, why) }
	prefix, name, hasPrefix := strings.Cut(key, "/")
	switch {
	case !hasPrefix:
		name = key
	case strings.Contains(name, "/"):
		return invalid(nameForm)
	case prefix == "":
		return invalid("prefix part must be non-empty")
	case len(prefix) > 253:
		return invalid("prefix part must be no more than 253 bytes")
	case !isSubdomain(prefix):
		return invalid(prefixed)
	}
	switch {
	case name == "":
		return invalid("name part must be non-empty; " + namePart)
	case len(name) > 63:
		return invalid("name part must be no more than 63 bytes")
	case !isName(name):
		return invalid(namePart)
	}
	return nil
}

func checkValues(key string, values []string) error {
	for i, v := range values {
		switch {
		case len(v) > 63:
			return fmt.Errorf("values[%d][%s]: Invalid value: %q: must be no more than 63 bytes", i, key, v)
		case v != "" && !isName(v):
			return fmt.Errorf("values[%d][%s]: Invalid value: %q: %s", i, key, v, valued)
		}
	}
	return nil
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isAlphanumeric(s[i]) && s[i] != '-' && s[i] != '_' && s[i] != '.' {
			return false
		}
	}
	return isAlphanumeric(s[0]) && isAlphanumeric(s[len(s)-1])
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isSubdomain reports whether s is a lower-case DNS subdomain: dot-separated labels of letters,
// digits and inner hyphens.
func isSubdomain(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for i := 0; i < len(part); i++ {
			if c := part[i]; !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') {
				return false
			}
		}
	}
	return true
}

package rules

import (
	"regexp"
	"strings"
)

// LocalPath checks that s is a relative path in a volume. It may not start with "..", a prefix that
// the volume itself uses for its files.
func LocalPath(s string) []string {
	faults := RelativePath(s)
	if strings.HasPrefix(s, "..") && !strings.HasPrefix(s, "../") && s != ".." {
		faults = append(faults, "must not start with '..'")
	}
	return faults
}

func driverName(s string) []string { return Subdomain(strings.ToLower(s)) }

var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`^iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+(:[^,;*&$|\s]+)?$`),
	"eui": regexp.MustCompile(`^eui\.[A-Za-z0-9]{16}$`),
	"naa": regexp.MustCompile(`^naa\.[A-Za-z0-9]{32}$`),
}

func iscsiName(s string) []string {
	pattern := iscsiNames[s[:min(len(s), 3)]]
	switch {
	case pattern == nil:
		return []string{"must be valid format starting with iqn, eui, or naa"}
	case !pattern.MatchString(s):
		return []string{"must be valid format"}
	}
	return nil
}

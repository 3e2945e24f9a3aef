package rules

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Patterns of names, in the form shown in error messages.
const (
	labelPattern     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	subdomainPattern = labelPattern + `(\.` + labelPattern + `)*`
	label1035Pattern = `[a-z]([-a-z0-9]*[a-z0-9])?`
	qualifiedPattern = `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
	labelValue       = `(` + qualifiedPattern + `)?`
	configKeyPattern = `[-._a-zA-Z0-9]+`
	headerPattern    = `[-A-Za-z0-9]+`
	percentPattern   = `[0-9]+%`
)

var (
	headerRE   = anchored(headerPattern)
	percentRE  = anchored(percentPattern)
	portNameRE = anchored(`[-a-z0-9]+`)
	envNameRE  = anchored(`[ -<>-~]+`)
)

func anchored(pattern string) *regexp.Regexp { return regexp.MustCompile("^(?:" + pattern + ")$") }

var formats = map[string]func(string) []string{
	"dns1123Label":     Label,
	"dns1123Subdomain": Subdomain,
	"dns1035Label":     Label1035,
	"qualifiedName":    QualifiedName,
	"labelValue":       LabelValue,
	"configMapKey":     ConfigKey,
	"ip":               IP,
	"cidr":             CIDR,
	"relativePath":     RelativePath,
	"localPath":        LocalPath,
	"noDotDot":         NoDotDot,
	"endpointIP":       EndpointIP,
	"driverName":       driverName,
	"iscsiName":        iscsiName,
	"absolutePath":     AbsolutePath,
	"envVarName":       EnvName,
	"portName":         PortName,
	"httpHeaderName":   HeaderName,
	"pathSegment":      PathSegment,
	"percentOfAll":     PercentOfAll,
	"kindName":         KindName,

	"canonicalIP":              CanonicalIP,
	"canonicalCIDR":            CanonicalCIDR,
	"strictIP":                 strictIP,
	"strictCIDR":               strictCIDR,
	"cIdentifier":              CIdentifier,
	"int32":                    int32Text,
	"percent":                  Percent,
	"specialIP":                SpecialIP,
	"subdomainPrefix":          func(s string) []string { return Subdomain(maskTrailingDash(s)) },
	"subdomainWithUnderscores": SubdomainWithUnderscores,
	"wildcardSubdomain":        WildcardSubdomain,

	"mixedCaseSubdomain":     func(s string) []string { return Subdomain(strings.ToLower(s)) },
	"mixedCaseQualifiedName": func(s string) []string { return QualifiedName(strings.ToLower(s)) },
}

func int32Text(s string) []string {
	if _, err := strconv.ParseInt(s, 10, 32); err != nil || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "0") && s != "0" {
		return []string{"must be a 32bit integer"}
	}
	return nil
}

// FindFormat returns the check for a declared format name. The check returns a string's errors.
func FindFormat(name string) (func(string) []string, error) {
	if check := formats[name]; check != nil {
		return check, nil
	}
	return nil, fmt.Errorf("unknown format %q", name)
}

// Subdomain checks that s is a DNS-1123 subdomain of at most 253 bytes.
func Subdomain(s string) []string {
	return checkName(s, 253, isSubdomain, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
		subdomainPattern, "example.com")
}

// SubdomainWithUnderscores checks that s is a DNS search domain of at most 253 bytes, whose labels
// may contain underscores.
func SubdomainWithUnderscores(s string) []string {
	return checkName(s, 253, underscoreRE.MatchString, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
		underscorePattern, "example.com")
}

const underscorePattern = `_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*`

var underscoreRE = regexp.MustCompile("^(?:" + underscorePattern + ")$")

// Label checks that s is a DNS-1123 label of at most 63 bytes.
func Label(s string) []string {
	return checkName(s, 63, isLabel, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
		labelPattern, "my-name", "123-abc")
}

// Label1035 checks that s is a DNS-1035 label of at most 63 bytes.
func Label1035(s string) []string {
	return checkName(s, 63, isLabel1035, "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
		label1035Pattern, "my-name", "abc-123")
}

// LabelValue checks that s is a label value of at most 63 bytes. It may be empty.
func LabelValue(s string) []string {
	return checkLengthAndPattern(s, 63, isLabelValue, "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
		labelValue, "MyValue", "my_value", "12345")
}

// CIdentifier checks that s is a C identifier of any length.
func CIdentifier(s string) []string {
	if cIdentifierRE.MatchString(s) {
		return nil
	}
	return []string{patternMsg("a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
		cIdentifierPattern, "my_name", "MY_NAME", "MyName")}
}

const cIdentifierPattern = `[A-Za-z_][A-Za-z0-9_]*`

var cIdentifierRE = regexp.MustCompile("^" + cIdentifierPattern + "$")

// QualifiedName checks that s has the form of a label key: a name of at most 63 bytes, optionally
// preceded by a DNS subdomain and a slash.
func QualifiedName(s string) []string {
	if len(s) <= 63 && isQualified(s) {
		return nil
	}
	const text = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	examples := []string{"MyName", "my.name", "123-abc"}
	prefix, name, both := strings.Cut(s, "/")
	var faults []string
	switch {
	case !both:
		name = s
	case strings.Contains(name, "/"):
		return []string{"a valid label key " + patternMsg(text, qualifiedPattern, examples...) +
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefix == "":
		faults = append(faults, "prefix part "+emptyMsg)
	default:
		for _, msg := range Subdomain(prefix) {
			faults = append(faults, "prefix part "+msg)
		}
	}
	if name == "" {
		faults = append(faults, "name part "+emptyMsg)
	} else if len(name) > 63 {
		faults = append(faults, "name part "+longMsg(63))
	}
	if !isQualified(name) {
		faults = append(faults, "name part "+patternMsg(text, qualifiedPattern, examples...))
	}
	return faults
}

// ConfigKey checks that s is a key of a ConfigMap or Secret, which must be safe as a file name.
func ConfigKey(s string) []string {
	faults := checkLengthAndPattern(s, 253, isConfigKey, "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
		configKeyPattern, "key.name", "KEY_NAME", "key-name")
	switch {
	case s == ".":
		faults = append(faults, "must not be '.'")
	case s == "..":
		faults = append(faults, "must not be '..'")
	case strings.HasPrefix(s, ".."):
		faults = append(faults, "must not start with '..'")
	}
	return faults
}

// PathSegment checks that s can be one segment of a URL path.
func PathSegment(s string) []string {
	if s == "." || s == ".." {
		return []string{"may not be '" + s + "'"}
	}
	var faults []string
	for _, c := range []string{"/", "%"} {
		if strings.Contains(s, c) {
			faults = append(faults, "may not contain '"+c+"'")
		}
	}
	return faults
}

// maxPathName is the maximum length of an object name in bytes. Even with every byte escaped, it
// must fit into a request line.
const maxPathName = 1024

// pathName checks that an object name fits into one URL path segment, so that requests can refer to
// the object.
func pathName(s string) []string {
	faults := PathSegment(s)
	if strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
		faults = append(faults, "may not contain control characters")
	}
	if strings.Contains(s, `\`) {
		faults = append(faults, `may not contain '\'`)
	}
	if !utf8.ValidString(s) {
		faults = append(faults, "must be valid UTF-8")
	}
	if len(s) > maxPathName {
		faults = append(faults, fmt.Sprintf("must be no more than %d bytes", maxPathName))
	}
	return faults
}

// RelativePath checks that s is a relative path that stays below its base.
func RelativePath(s string) []string {
	var faults []string
	if strings.HasPrefix(s, "/") {
		faults = append(faults, "must be a relative path")
	}
	return append(faults, NoDotDot(s)...)
}

// AbsolutePath checks that s is an absolute path.
func AbsolutePath(s string) []string {
	if !strings.HasPrefix(s, "/") {
		return []string{"must be an absolute path"}
	}
	return nil
}

// NoDotDot checks that no element of a path is "..".
func NoDotDot(s string) []string {
	for _, part := range strings.Split(s, "/") {
		if part == ".." {
			return []string{"must not contain '..'"}
		}
	}
	return nil
}

// EnvName checks that s is a valid name of an environment variable.
func EnvName(s string) []string {
	if !envNameRE.MatchString(s) {
		return []string{"a valid environment variable name must consist only of printable ASCII characters other than '='"}
	}
	return nil
}

// HeaderName checks that s is a valid name of an HTTP header.
func HeaderName(s string) []string {
	if !headerRE.MatchString(s) {
		return []string{patternMsg("a valid HTTP header must consist of alphanumeric characters or '-'", headerPattern, "X-Header-Name")}
	}
	return nil
}

// Percent checks that s is an integer followed by a percent sign.
func Percent(s string) []string {
	if !percentRE.MatchString(s) {
		return []string{patternMsg("a valid percent string must be a numeric string followed by an ending '%'", percentPattern, "1%", "93%")}
	}
	return nil
}

// PercentOfAll checks that s is a percentage of at most 100%.
func PercentOfAll(s string) []string {
	faults := Percent(s)
	number, _ := strings.CutSuffix(s, "%")
	if n, err := strconv.ParseInt(number, 10, 32); err == nil && number != s && n > 100 {
		faults = append(faults, "must not be greater than 100%")
	}
	return faults
}

// KindName checks that s is a kind name: a DNS-1035 label that may contain upper-case letters.
func KindName(s string) []string {
	if faults := Label1035(strings.ToLower(s)); len(faults) > 0 {
		return []string{"may have mixed case, but should otherwise match: " + strings.Join(faults, ",")}
	}
	return nil
}

// PortName checks that s is a valid port name of at most 15 bytes.
func PortName(s string) []string {
	var faults []string
	if len(s) > 15 {
		faults = append(faults, longMsg(15))
	}
	if !portNameRE.MatchString(s) {
		faults = append(faults, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
	}
	if !strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") {
		faults = append(faults, "must contain at least one letter (a-z)")
	}
	if strings.Contains(s, "--") {
		faults = append(faults, "must not contain consecutive hyphens")
	}
	if strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") {
		faults = append(faults, "must not begin or end with a hyphen")
	}
	return faults
}

const emptyMsg = "must be non-empty"

func longMsg(max int) string { return fmt.Sprintf("must be no more than %d bytes", max) }

func checkName(s string, max int, is func(string) bool, text, pattern string, examples ...string) []string {
	faults := checkLengthAndPattern(s, max, is, text, pattern, examples...)
	if len(s) > max {
		faults[0] = fmt.Sprintf("must be no more than %d characters", max)
	}
	return faults
}

func checkLengthAndPattern(s string, max int, is func(string) bool, text, pattern string, examples ...string) []string {
	var faults []string
	if len(s) > max {
		faults = append(faults, longMsg(max))
	}
	if !is(s) {
		faults = append(faults, patternMsg(text, pattern, examples...))
	}
	return faults
}

// patternMsg appends examples and the regular expression to a message, spaced as in kube-apiserver.
func patternMsg(text, pattern string, examples ...string) string {
	var b strings.Builder
	b.WriteString(text + " (e.g. ")
	for i, e := range examples {
		if i > 0 {
			b.WriteString(" or ")
		}
		b.WriteString("'" + e + "', ")
	}
	b.WriteString("regex used for validation is '" + pattern + "')")
	return b.String()
}

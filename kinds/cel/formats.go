package cel

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"

	"github.com/troupe-api/troupe/kinds/rules"
)

var formatType = cel.ObjectType("platform.NamedFormat")

type format struct {
	faults func(s string) []string
	size   uint64 // size of the regular expression, which determines the cost
}

var (
	uuidPattern   = regexp.MustCompile(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)
	dottedPattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$`)
	base64Pattern = regexp.MustCompile(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`)
)

// formats holds all formats by name. Their sizes match kube-apiserver's, because they determine the
// cost of validate.
var formats = map[string]*format{
	"dns1123Label":           {label, 30},
	"dns1123Subdomain":       {subdomain, 60},
	"dns1035Label":           {label1035, 30},
	"qualifiedName":          {qualifiedName, 60},
	"dns1123LabelPrefix":     {prefix(label), 30},
	"dns1123SubdomainPrefix": {prefix(subdomain), 60},
	"dns1035LabelPrefix":     {prefix(label1035), 30},
	"labelValue":             {rules.LabelValue, 40},
	"uri": {func(s string) []string {
		if _, err := url.ParseRequestURI(s); err != nil {
			return []string{err.Error()}
		}
		return nil
	}, 1103},
	"uuid": {says("does not match the UUID format", uuidPattern.MatchString), uint64(len(uuidPattern.String()))},
	"byte": {says("invalid base64", base64Pattern.MatchString), 84},
	"date": {says("invalid date", func(s string) bool {
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	}), uint64(len(dateTimePattern))},
	"datetime": {says("invalid datetime", IsDateTime), uint64(len(dateTimePattern))},
}

// The functions below adapt errors of package rules to kube-apiserver's messages.

// label replaces the last error with a clearer one if s contains dots, because passing a subdomain
// is the most common mistake.
func label(s string) []string {
	faults := inCharacters(rules.Label(s))
	if dottedPattern.MatchString(s) {
		faults[len(faults)-1] = "must not contain dots"
	}
	return faults
}

func subdomain(s string) []string { return inCharacters(rules.Subdomain(s)) }

func label1035(s string) []string { return inCharacters(rules.Label1035(s)) }

func qualifiedName(s string) []string {
	faults := rules.QualifiedName(s)
	for i, fault := range faults {
		faults[i] = strings.Replace(fault, "a qualified name", "a valid label key", 1)
	}
	return faults
}

// inCharacters replaces "bytes" with "characters" in errors. Names are ASCII, so the counts are
// equal.
func inCharacters(faults []string) []string {
	for i, fault := range faults {
		if size, found := strings.CutSuffix(fault, " bytes"); found {
			faults[i] = size + " characters"
		}
	}
	return faults
}

func says(fault string, is func(s string) bool) func(string) []string {
	return func(s string) []string {
		if is(s) {
			return nil
		}
		return []string{fault}
	}
}

// prefix returns a check for name prefixes, which may end with a hyphen. As in kube-apiserver, it
// replaces a final hyphen and the preceding character with a letter.
func prefix(check func(string) []string) func(string) []string {
	return func(s string) []string {
		if len(s) > 1 && strings.HasSuffix(s, "-") {
			s = s[:len(s)-2] + "a"
		}
		return check(s)
	}
}

// formatFunctions declares validate and the named formats, which are values so that expressions can
// select one by name.
func formatFunctions() []cel.EnvOption {
	options := []cel.EnvOption{
		method("validate", "format-validate", binary(func(f *format, s string) optional[[]string] {
			faults := f.faults(s)
			return optional[[]string]{faults, len(faults) > 0}
		})),
		function("format.named", "format-named", unary(func(name string) optional[*format] {
			f, ok := formats[name]
			return optional[*format]{f, ok}
		})),
	}
	for name, f := range formats {
		options = append(options, cel.Function("format."+name, cel.Overload("format."+name, []*cel.Type{}, formatType,
			cel.FunctionBinding(func(...ref.Val) ref.Val { return valueOrErr(f, nil) }))))
	}
	return options
}

package crd

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
)

// formats maps format names without hyphens to their checks, except for the formats in Formats. As
// OpenAPI requires, unknown formats are ignored.
var formats = map[string]func(s string) bool{
	"bsonobjectid": isObjectID,
	"byte":         isBase64,
	"cidr":         func(s string) bool { _, _, err := net.ParseCIDR(withoutLeadingZeros(s)); return err == nil },
	"creditcard":   isCreditCard,
	"date":         func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
	"datetime":     cel.IsDateTime,
	"duration":     cel.IsDuration,
	"email":        func(s string) bool { _, err := mail.ParseAddress(s); return err == nil },
	"hexcolor":     matches(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
	"hostname":     isHostname,
	"ipv4":         func(s string) bool { return strings.Contains(s, ".") && net.ParseIP(withoutLeadingZeros(s)) != nil },
	"ipv6":         func(s string) bool { return strings.Contains(s, ":") && net.ParseIP(s) != nil },
	"isbn":         func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":       isISBN10,
	"isbn13":       isISBN13,
	"mac":          func(s string) bool { _, err := net.ParseMAC(s); return err == nil },
	"password":     func(string) bool { return true },
	"rgbcolor":     isRGB,
	"ssn":          matches(`^\d{3}[- ]\d{2}[- ]\d{4}$`),
	"uri":          func(s string) bool { _, err := url.ParseRequestURI(s); return err == nil },
	"uuid":         matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid3":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid4":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"uuid5":        matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
}

// Formats contains the two string formats whose names contain the vendor name of a naming profile.
type Formats struct {
	shortName, longName string
}

// NewFormats returns the Formats of a naming profile.
func NewFormats(n *meta.Naming) Formats {
	return Formats{withoutHyphens(n.Translate("platform-short-name")), withoutHyphens(n.Translate("platform-long-name"))}
}

// Of returns a format's check, or nil if the format is unknown. It ignores hyphens, so date-time
// and datetime are the same format.
func (f Formats) Of(name string) func(s string) bool {
	switch name = withoutHyphens(name); name {
	case f.shortName:
		return func(s string) bool { return len(rules.Label(s)) == 0 }
	case f.longName:
		return func(s string) bool { return len(rules.Subdomain(s)) == 0 }
	}
	return formats[name]
}

// Known reports whether a format exists for a type. An empty type matches any type.
func (f Formats) Known(kind, name string) bool {
	switch kind {
	case "", "string":
		return f.Of(name) != nil
	case "integer":
		return name == "int32" || name == "int64"
	}
	return kind == "number" && (name == "float" || name == "double")
}

func withoutHyphens(name string) string { return strings.ReplaceAll(name, "-", "") }

// expression compiles a regular expression on first use. Most formats are rarely used, and
// compiling all of them at startup would take 15 ms.
func expression(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func matches(pattern string) func(s string) bool {
	compiled := expression(pattern)
	return func(s string) bool { return compiled().MatchString(s) }
}

func isObjectID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 12
}

// isBase64 rejects line breaks, which the decoder ignores.
func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil && s != "" && !strings.ContainsAny(s, "\r\n")
}

var leadingZeros = expression(`(^|[.:/])0+([0-9a-fA-F])`)

// withoutLeadingZeros normalizes an IP address, because old objects may contain leading zeros.
func withoutLeadingZeros(address string) string {
	return leadingZeros().ReplaceAllString(address, "$1$2")
}

var (
	// oneLabel matches a hostname of one label. Unlike hostLabel, it allows a trailing hyphen.
	oneLabel      = expression(`^[a-zA-Z0-9\p{S}\p{L}](-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?$`)
	hostLabel     = expression(`^[a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$`)
	hostTopDomain = expression(`^[a-zA-Z\p{L}]{2,63}$`)
)

// isHostname reports whether s is a single DNS label, or a domain name whose last label has only
// letters. Letters and symbols may be non-ASCII.
func isHostname(s string) bool {
	if len(s) > 255 {
		return false
	}
	labels := strings.Split(s, ".")
	for i, label := range labels {
		pattern := hostLabel
		switch {
		case len(labels) == 1:
			pattern = oneLabel
		case i == len(labels)-1:
			pattern = hostTopDomain
		}
		if len(label) > 63 || !pattern().MatchString(label) {
			return false
		}
	}
	return true
}

var (
	hyphensAndSpace = expression(`[-\s]+`)
	isbn10          = expression(`^\d{9}[\dX]$`)
	isbn13          = expression(`^\d{13}$`)
)

// isISBN10 reports whether the sum of the digits of s, weighted 1 to 10, is a multiple of 11.
func isISBN10(s string) bool {
	s = hyphensAndSpace().ReplaceAllString(s, "")
	if !isbn10().MatchString(s) {
		return false
	}
	sum := 0
	for i := range s {
		digit := 10 // X
		if s[i] != 'X' {
			digit = int(s[i] - '0')
		}
		sum += (i + 1) * digit
	}
	return sum%11 == 0
}

// isISBN13 reports whether the sum of the digits of s, weighted alternately 1 and 3, is a multiple
// of 10.
func isISBN13(s string) bool {
	s = hyphensAndSpace().ReplaceAllString(s, "")
	if !isbn13().MatchString(s) {
		return false
	}
	sum := 0
	for i := range s {
		sum += (1 + i%2*2) * int(s[i]-'0')
	}
	return sum%10 == 0
}

var (
	noDigits = expression(`[^0-9]+`)
	// cardNumber matches the issuers' prefixes and lengths.
	cardNumber = expression(`^(4(\d{12}|\d{15})|5[1-5]\d{14}|(6011|65\d\d)\d{12}|3[47]\d{13}|(30[0-5]|3[68]\d)\d{11}|(2131|1800)\d{11}|35\d{14})$`)
)

// isCreditCard reports whether the digits of s have a known issuer's prefix and a valid Luhn
// checksum.
func isCreditCard(s string) bool {
	s = noDigits().ReplaceAllString(s, "")
	if !cardNumber().MatchString(s) {
		return false
	}
	sum := 0
	for i := range s {
		digit := int(s[i] - '0')
		if (len(s)-i)%2 == 0 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return sum%10 == 0
}

var rgb = expression(`^rgb\(\s*(0|[1-9]\d{0,2})\s*,\s*(0|[1-9]\d{0,2})\s*,\s*(0|[1-9]\d{0,2})\s*\)$`)

func isRGB(s string) bool {
	parts := rgb().FindStringSubmatch(s)
	if parts == nil {
		return false
	}
	for _, part := range parts[1:] {
		if n, err := strconv.Atoi(part); err != nil || n > 255 {
			return false
		}
	}
	return true
}

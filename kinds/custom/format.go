package custom

import (
	"encoding/base64"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/rules"
)

// formats are the formats of text that are checked. Others mean nothing, as OpenAPI defines it.
var formats = map[string]func(s string) bool{
	"byte":      isBase64,
	"cidr":      func(s string) bool { _, err := netip.ParsePrefix(s); return err == nil },
	"date":      func(s string) bool { _, err := time.Parse(time.DateOnly, s); return err == nil },
	"date-time": isDateTime,
	"datetime":  isDateTime,
	"duration":  func(s string) bool { return isDuration(s) || isGoDuration(s) },
	"email":     func(s string) bool { _, err := mail.ParseAddress(s); return err == nil },
	"hexcolor":  matches(`^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`),
	"hostname":  func(s string) bool { return len(rules.Subdomain(s)) == 0 },
	"ipv4": func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Unmap().Is4() && a.Zone() == ""
	},
	"ipv6":  func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" },
	"mac":   func(s string) bool { _, err := net.ParseMAC(s); return err == nil },
	"uri":   func(s string) bool { u, err := url.ParseRequestURI(s); return err == nil && u.Scheme != "" },
	"uuid":  matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid3": matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`),
	"uuid4": matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
	"uuid5": matches(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`),
}

// isBase64 takes neither an empty text nor one with line breaks, which the decoder passes over.
func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil && s != "" && !strings.ContainsAny(s, "\r\n")
}

// isDuration knows durations of one unit.
var isDuration = matches(`^\d+\s*(ns|us|µs|ms|s|m|h|d|w)$`)

// matches tells texts by a regular expression.
func matches(pattern string) func(s string) bool { return regexp.MustCompile(pattern).MatchString }

func isDateTime(s string) bool { _, err := time.Parse(time.RFC3339Nano, s); return err == nil }

func isGoDuration(s string) bool { _, err := time.ParseDuration(s); return err == nil }

// hasFormat tells whether a text has a format.
//
// A format that is not known passes, so that a definition can name formats of newer servers.
func hasFormat(format, s string) bool {
	check := formats[format]
	return check == nil || check(s)
}

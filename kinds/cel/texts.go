package cel

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateTimeLayouts lists the layouts of a date-time. Like format validation, it includes a date-time
// without a zone, which is in UTC.
var dateTimeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05"}

// parseDateTime parses a date-time. An empty string is the Unix epoch.
func parseDateTime(s string) (t time.Time, err error) {
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	for _, layout := range dateTimeLayouts {
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return t, err
}

var (
	durationPart = regexp.MustCompile(`(\d+)\s*([A-Za-zµ]+)`)
	dateTimeRest = regexp.MustCompile(dateTimePattern)
)

const dateTimePattern = `^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`

// durationUnits lists the duration units by their short names and the prefixes of longer names.
var durationUnits = []struct {
	names  []string
	prefix string
	unit   time.Duration
}{
	{[]string{"ns"}, "nano", time.Nanosecond},
	{[]string{"us", "µs"}, "micro", time.Microsecond},
	{[]string{"ms"}, "milli", time.Millisecond},
	{[]string{"s"}, "sec", time.Second},
	{[]string{"m"}, "min", time.Minute},
	{[]string{"h", "hr"}, "hour", time.Hour},
	{[]string{"d"}, "day", 24 * time.Hour},
	{[]string{"w", "wk"}, "week", 7 * 24 * time.Hour},
}

// parseDuration parses a Go duration or a string such as "1 day 3 hours". It ignores parts with an
// unknown unit if another part has a known one. It must agree with format validation.
func parseDuration(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return d, nil
	}
	var sum time.Duration
	found := false
	for rest := s; ; { // one part at a time, because a string may have half a million
		part := durationPart.FindStringSubmatchIndex(rest)
		if part == nil {
			break
		}
		number, name := rest[part[2]:part[3]], rest[part[4]:part[5]]
		rest = rest[part[1]:]
		n, err := strconv.Atoi(number)
		if err != nil {
			return 0, err
		}
		if unit, ok := durationUnit(strings.ToLower(name)); ok {
			sum, found = sum+time.Duration(n)*unit, true
		}
	}
	if !found {
		return 0, fmt.Errorf("unable to parse %s as duration", s)
	}
	return sum, nil
}

// durationUnit returns the unit for a lower-case name. Prefixes cover plurals and long forms, such
// as minutes.
func durationUnit(name string) (time.Duration, bool) {
	for _, u := range durationUnits {
		if strings.HasPrefix(name, u.prefix) {
			return u.unit, true
		}
		for _, known := range u.names {
			if name == known {
				return u.unit, true
			}
		}
	}
	return 0, false
}

// IsDuration reports whether expressions can parse a string as a duration.
func IsDuration(s string) bool { _, err := parseDuration(s); return err == nil }

// IsDateTime reports whether a string consists of a date, a T, and a time with a zone. It rejects
// leap seconds.
func IsDateTime(s string) bool {
	date, rest, found := strings.Cut(strings.ToLower(s), "t")
	if _, err := time.Parse(time.DateOnly, date); !found || err != nil {
		return false
	}
	rest, _, _ = strings.Cut(rest, "t")
	m := dateTimeRest.FindStringSubmatch(rest)
	return m != nil && m[1] <= "23" && m[2] <= "59" && m[3] <= "59"
}

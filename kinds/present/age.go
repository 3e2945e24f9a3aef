package present

import (
	"strconv"
	"time"
)

// appendAge writes how long ago an RFC 3339 time was, as a JSON string: "5m", "3d4h".
func appendAge(b []byte, stamp string, now time.Time) []byte {
	b = append(b, '"')
	b = append(b, age(stamp, now)...)
	return append(b, '"')
}

// age is the time since stamp in short, "<unknown>" if stamp is no time.
func age(stamp string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return unknown
	}
	return humanDuration(now.Sub(t))
}

// humanDuration writes a duration with one unit, or with two while the first is a small number. Scripts
// and eyes are used to these thresholds.
//
// As examples: 119s, 5m30s, 170m, 5h10m, 40h, 3d4h, 400d, 2y30d, 10y. A time less than two seconds
// ahead, as by the clock of another machine, gives 0s; one further ahead gives <invalid>.
func humanDuration(d time.Duration) string {
	const day, year = 24, 365 * 24
	seconds, minutes, hours := int(d/time.Second), int(d/time.Minute), int(d/time.Hour)
	switch {
	case seconds < -1:
		return "<invalid>"
	case seconds < 0:
		return "0s"
	case seconds < 120:
		return strconv.Itoa(seconds) + "s"
	case minutes < 10:
		return units(minutes, "m", seconds%60, "s")
	case minutes < 3*60:
		return strconv.Itoa(minutes) + "m"
	case hours < 8:
		return units(hours, "h", minutes%60, "m")
	case hours < 2*day:
		return strconv.Itoa(hours) + "h"
	case hours < 8*day:
		return units(hours/day, "d", hours%day, "h")
	case hours < 2*year:
		return strconv.Itoa(hours/day) + "d"
	case hours < 8*year:
		return units(hours/year, "y", hours/day%365, "d")
	}
	return strconv.Itoa(hours/year) + "y"
}

// units is "5m30s", or "5m" if there is no rest.
func units(n int, unit string, rest int, restUnit string) string {
	if rest == 0 {
		return strconv.Itoa(n) + unit
	}
	return strconv.Itoa(n) + unit + strconv.Itoa(rest) + restUnit
}

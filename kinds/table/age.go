package table

import (
	"strconv"
	"time"
)

// Age returns the time since an RFC 3339 timestamp, formatted by HumanDuration.
func Age(stamp string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return unknown
	}
	return HumanDuration(now.Sub(t))
}

// HumanDuration formats a duration as kubectl does: 119s, 5m30s, 170m, 5h10m, 40h, 3d4h, 400d,
// 2y30d, 10y. Because of clock skew, times up to two seconds in the future are shown as 0s, and
// later ones as <invalid>.
func HumanDuration(d time.Duration) string {
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

func units(n int, unit string, rest int, restUnit string) string {
	if rest == 0 {
		return strconv.Itoa(n) + unit
	}
	return strconv.Itoa(n) + unit + strconv.Itoa(rest) + restUnit
}

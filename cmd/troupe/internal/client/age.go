package client

import (
	"fmt"
	"time"
)

// age returns the time since an RFC 3339 timestamp, in the notation of duration.
func age(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "<unknown>"
	}
	return duration(time.Since(at))
}

// duration formats a duration as kubectl does in tables: 45s, 3m20s, 5h, 12d.
func duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 8*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 8*day:
		return two(d, day, "d", time.Hour, "h")
	case d < 2*365*day:
		return fmt.Sprintf("%dd", d/day)
	}
	return two(d, 365*day, "y", day, "d")
}

// two formats a duration in two units; the second is omitted if it is 0.
func two(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	n, rest := d/large, d%large/small
	if rest == 0 {
		return fmt.Sprintf("%d%s", n, largeName)
	}
	return fmt.Sprintf("%d%s%d%s", n, largeName, rest, smallName)
}

package batch

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// checkSchedule parses a schedule with the parser of Kubernetes, because clients expect its errors.
// A schedule has five fields, or is a name such as "@daily". A time zone may precede the schedule.
func checkSchedule(s string) error {
	if hasZone(s) && !strings.Contains(s, " ") {
		s += " " // the parser panics without a space after the zone
	}
	_, err := cron.ParseStandard(s)
	return err
}

func hasZone(s string) bool {
	return strings.HasPrefix(s, "TZ=") || strings.HasPrefix(s, "CRON_TZ=")
}

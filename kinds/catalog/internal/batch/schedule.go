package batch

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// checkSchedule checks a schedule of five fields, or one of the names that begin with "@", with an optional time
// zone before it, by the parser of the CronJob controllers. Clients expect the texts of its errors.
func checkSchedule(s string) error {
	if hasZone(s) && !strings.Contains(s, " ") {
		s += " " // the parser panics where no space ends the zone
	}
	_, err := cron.ParseStandard(s)
	return err
}

// hasZone tells whether a schedule begins with a time zone.
func hasZone(s string) bool {
	return strings.HasPrefix(s, "TZ=") || strings.HasPrefix(s, "CRON_TZ=")
}

package batch

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// checkSchedule parses a cron schedule with the parser that Kubernetes uses, because clients expect
// its error messages.
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

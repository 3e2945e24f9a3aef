package batch

import (
	"strings"

	"github.com/robfig/cron/v3"
)

// checkSchedule parses a schedule of five fields or a name such as "@daily", with an optional time
// zone in front, by the parser of Kubernetes, whose error texts clients expect.
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

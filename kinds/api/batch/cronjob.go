package batch

import (
	"regexp"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/api/core/pod"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A cronJobStrategy defaults the Pod template. It does not default the Job template, because a
// Job's selector and labels depend on its name and UID.
type cronJobStrategy struct {
	schema.DefaultStrategy
	schema.DropStatusOnCreate
}

func (cronJobStrategy) Default(obj tree.Tree) {
	pod.DefaultTemplate(obj.EnsureObject("spec", "jobTemplate", "spec", "template"))
}

// validateSchedule rejects a time zone in the schedule, because timeZone is a separate field. It
// still parses the schedule, so clients get both errors, as in Kubernetes.
func validateSchedule(schedule, path string, faults *schema.Faults) {
	if err := checkSchedule(schedule); err != nil {
		faults.Invalid(path, schedule, err.Error())
	}
	if strings.Contains(schedule, "TZ") {
		faults.Invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
}

var zonePartRE = regexp.MustCompile(`^[A-Za-z.\-_0-9+]{1,14}$`)

// validateZone checks a time zone name.
//
// The lookup may open a file with that name, so names such as "../x" are rejected first. Local
// is rejected because its meaning depends on the machine. The time zone database is compiled in
// (time/tzdata), because the machine's database may differ.
func validateZone(zone, path string, faults *schema.Faults) {
	if zone == "" {
		faults.Invalid(path, zone, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePartRE.MatchString(part) {
			faults.Invalid(path, zone, "unknown time zone "+zone)
			return
		}
	}
	if strings.EqualFold(zone, "Local") {
		faults.Invalid(path, zone, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(zone); err != nil {
		faults.Invalid(path, zone, err.Error())
	}
}

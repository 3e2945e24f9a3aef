package batch

import (
	"regexp"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/catalog/internal/core/pod"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The template of the Job gets the defaults of a Pod, while those of a Job are left to the Job that is made: its
// selector and labels need a name and a UID.
type cronJobStrategy struct {
	jobTemplate
	family.DropStatusOnCreate
}

func (cronJobStrategy) Default(obj tree.Tree) {
	pod.DefaultTemplate(obj.EnsureObject("spec", "jobTemplate", "spec", "template"))
}

// The zone has a field of its own. One inside the schedule is still parsed first, so that a client gets both errors,
// as it is used to.
func validateSchedule(schedule, path string, faults *schema.Faults) {
	if err := checkSchedule(schedule); err != nil {
		faults.Invalid(path, schedule, err.Error())
	}
	if strings.Contains(schedule, "TZ") {
		faults.Invalid(path, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
}

// zonePartRE is one part of the name of a time zone, as the zone database names them.
var zonePartRE = regexp.MustCompile(`^[A-Za-z.\-_0-9+]{1,14}$`)

// validateZone checks the name of a time zone.
//
// The parts are checked before the name is looked up, since the lookup opens a file of that name: "../x" must not get
// so far. Local is the zone of whichever machine the controller runs on. The data of the zones is part of the program
// (time/tzdata), so that the answer does not depend on the machine either.
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

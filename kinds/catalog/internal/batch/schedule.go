package batch

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A scheduleField is one of the five fields of a schedule.
type scheduleField struct {
	low, high int
	names     []string // names of the numbers from low on, in lower case
}

// scheduleFields are minute, hour, day of month, month and day of week.
var scheduleFields = []scheduleField{
	{low: 0, high: 59},
	{low: 0, high: 23},
	{low: 1, high: 31},
	{low: 1, high: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{low: 0, high: 6, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// scheduleNames are the names that stand for whole schedules.
var scheduleNames = map[string]bool{
	"@yearly": true, "@annually": true, "@monthly": true, "@weekly": true, "@daily": true, "@midnight": true, "@hourly": true,
}

// checkSchedule checks a schedule of five fields, or one of the names that begin with "@", with an
// optional time zone before it. Clients expect the texts of its errors.
func checkSchedule(s string) error {
	if strings.HasPrefix(s, "TZ=") || strings.HasPrefix(s, "CRON_TZ=") {
		assignment, rest, _ := strings.Cut(s, " ")
		_, zone, _ := strings.Cut(assignment, "=")
		if _, err := time.LoadLocation(zone); err != nil {
			return fmt.Errorf("provided bad location %s: %w", zone, err)
		}
		s = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(s, "@") {
		return checkScheduleName(s)
	}
	fields := strings.Fields(s)
	if len(fields) != len(scheduleFields) {
		return fmt.Errorf("expected exactly %d fields, found %d: %s", len(scheduleFields), len(fields), fields)
	}
	for i, text := range fields {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
			if err := scheduleFields[i].check(part); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkScheduleName(s string) error {
	if scheduleNames[s] {
		return nil
	}
	if every, ok := strings.CutPrefix(s, "@every "); ok {
		if _, err := time.ParseDuration(every); err != nil {
			return fmt.Errorf("failed to parse duration %s: %w", s, err)
		}
		return nil
	}
	return fmt.Errorf("unrecognized descriptor: %s", s)
}

// check checks one part of a field: a value, a range or "*", with an optional step.
func (f scheduleField) check(part string) error {
	base, step, stepped := strings.Cut(part, "/")
	from, to, ranged := strings.Cut(base, "-")
	low, high := f.low, f.high
	if from != "*" && from != "?" {
		var err error
		if low, err = f.number(from); err != nil {
			return err
		}
		switch {
		case strings.Contains(to, "-"):
			return fmt.Errorf("too many hyphens: %s", part)
		case ranged:
			if high, err = f.number(to); err != nil {
				return err
			}
		case !stepped:
			high = low
		}
	}
	if stepped {
		if err := checkStep(step, part); err != nil {
			return err
		}
	}
	switch {
	case low < f.low:
		return fmt.Errorf("beginning of range (%d) below minimum (%d): %s", low, f.low, part)
	case high > f.high:
		return fmt.Errorf("end of range (%d) above maximum (%d): %s", high, f.high, part)
	case low > high:
		return fmt.Errorf("beginning of range (%d) beyond end of range (%d): %s", low, high, part)
	}
	return nil
}

func checkStep(step, part string) error {
	if strings.Contains(step, "/") {
		return fmt.Errorf("too many slashes: %s", part)
	}
	n, err := scheduleNumber(step)
	if err == nil && n == 0 {
		err = fmt.Errorf("step of range should be a positive number: %s", part)
	}
	return err
}

// number reads a number or the name of one.
func (f scheduleField) number(s string) (int, error) {
	for i, name := range f.names {
		if strings.EqualFold(s, name) {
			return f.low + i, nil
		}
	}
	return scheduleNumber(s)
}

func scheduleNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("failed to parse int from %s: %w", s, err)
	case n < 0:
		return 0, fmt.Errorf("negative number (%d) not allowed: %s", n, s)
	}
	return n, nil
}

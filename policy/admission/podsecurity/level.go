package podsecurity

import "errors"

// A Level is the strictness of a policy. Higher levels are stricter.
type Level int

// Values of Level. Restricted includes the checks of Baseline.
const (
	Privileged Level = iota // allows everything
	Baseline
	Restricted
)

var levelNames = [...]string{"privileged", "baseline", "restricted"}

// String returns the level as spelled in labels.
func (l Level) String() string { return levelNames[l] }

var errLevel = errors.New("must be one of privileged, baseline, restricted")

// ParseLevel parses a level name. It returns Restricted and an error for an unknown name.
func ParseLevel(s string) (Level, error) {
	for level, name := range levelNames {
		if s == name {
			return Level(level), nil
		}
	}
	return Restricted, errLevel
}

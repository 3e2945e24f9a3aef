package podsecurity

import "errors"

// A Level is how much a policy demands; a higher one demands more.
type Level int

// The levels. Restricted holds what Baseline holds.
const (
	Privileged Level = iota // everything is allowed
	Baseline
	Restricted
)

var levelNames = [...]string{"privileged", "baseline", "restricted"}

// String is the name of the level in labels.
func (l Level) String() string { return levelNames[l] }

var errLevel = errors.New("must be one of privileged, baseline, restricted")

// ParseLevel reads the name of a level. What is none reads as Restricted, with an error.
func ParseLevel(s string) (Level, error) {
	for level, name := range levelNames {
		if s == name {
			return Level(level), nil
		}
	}
	return Restricted, errLevel
}

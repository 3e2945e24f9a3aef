package audit

import "slices"

// A Level is how much is written of a request. Levels are ordered.
type Level uint8

// The levels. None writes nothing; Request adds the body of the request to Metadata,
// RequestResponse also that of the answer.
const (
	None Level = iota
	Metadata
	Request
	RequestResponse
)

var levelNames = []string{"None", "Metadata", "Request", "RequestResponse"}

// String is the name in policies and Events.
func (l Level) String() string { return levelNames[l] }

// parseLevel finds a level by its name.
func parseLevel(name string) (Level, bool) {
	i := slices.Index(levelNames, name)
	return Level(max(i, 0)), i >= 0
}

// A Stage is how far a request has come.
type Stage uint8

// The stages, in the order of a request's life. ResponseStarted is only of answers that take
// long; Panic takes the place of ResponseComplete.
const (
	RequestReceived Stage = iota
	ResponseStarted
	ResponseComplete
	Panic
)

var stageNames = []string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}

// String is the name in policies and Events.
func (s Stage) String() string { return stageNames[s] }

// stageSet is a set of them.
type stageSet uint8

func (s stageSet) has(stage Stage) bool { return s&(1<<stage) != 0 }

// add adds a stage by its name.
func (s *stageSet) add(name string) bool {
	i := slices.Index(stageNames, name)
	if i < 0 {
		return false
	}
	*s |= 1 << i
	return true
}

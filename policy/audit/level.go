package audit

// A Level determines how much of a request is recorded. Levels are ordered.
type Level uint8

// Request adds the request body to Metadata. RequestResponse also adds the response body.
const (
	None Level = iota
	Metadata
	Request
	RequestResponse
)

var levelNames = []string{"None", "Metadata", "Request", "RequestResponse"}

// String returns the name used in policies and Events.
func (l Level) String() string { return levelNames[l] }

// A Stage is a point in request processing.
type Stage uint8

// Stages in order. ResponseStarted occurs only for long-running requests and for requests rejected
// before authentication. Panic replaces ResponseComplete.
const (
	RequestReceived Stage = iota
	ResponseStarted
	ResponseComplete
	Panic
)

var stageNames = []string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}

// String returns the name used in policies and Events.
func (s Stage) String() string { return stageNames[s] }

type stageSet uint8

func (s stageSet) has(stage Stage) bool { return s&(1<<stage) != 0 }

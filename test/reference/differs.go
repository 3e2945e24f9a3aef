package reference

// A departure is a case whose answer is another one, and is to stay so.
type departure struct {
	step int // the first step that differs, from 0
	code int // of the answer to it
	why  string
}

// differs lists the departures.
var differs = map[string]departure{}

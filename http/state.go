package http

// A state is how far a request has come. It decides who writes the response and how a failure is answered:
//
//	received ──▶ authenticated ──▶ negotiated ──▶ hijacked
//	   ├──▶ malformed      └──────────────┴──▶ forwarded ──▶ hijacked, or cut by a panic
//	   └──▶ refused
//
// Where the server writes the response itself, a panic leads from any state to panicked.
type state uint8

const (
	// stateReceived: the user is not known. An error has the format of the Accept header, if that is acceptable.
	stateReceived state = iota
	// stateRefused: the request failed before its user was known, and is audited as that.
	stateRefused
	// stateAuthenticated: the user is known, and whether the request is audited.
	stateAuthenticated
	// stateMalformed: nothing that the request asks for counts. Its error is JSON, and its connection is closed.
	stateMalformed
	// stateNegotiated: the format is final, also for errors.
	stateNegotiated
	// stateForwarded: the response of another server is passed on.
	stateForwarded
	// stateHijacked: a watch or a tunnel owns the connection and writes the response.
	stateHijacked
	// statePanicked: the handler panicked, and the response is a 500.
	statePanicked
	// stateCut: the handler panicked while a response was passed on.
	stateCut
)

// formatKnown reports whether the format of errors is decided.
func (s state) formatKnown() bool { return s >= stateMalformed }

func (s state) panicked() bool { return s >= statePanicked }

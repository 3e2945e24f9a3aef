package http

// A state is the progress of a request. It determines who writes the response and how an error is
// handled:
//
//	received ──▶ authenticated ──▶ negotiated ──▶ hijacked
//	   ├──▶ malformed      └──────────────┴──▶ forwarded ──▶ hijacked, or cut by a panic
//	   └──▶ refused
//
// If the server writes the response itself, a panic leads from any state to panicked.
type state uint8

const (
	// stateReceived: the user is unknown. An error has the format of the Accept header, if
	// acceptable.
	stateReceived state = iota
	// stateRefused: the request failed before its user was known, and is audited as such.
	stateRefused
	// stateAuthenticated: the user is known, and whether the request is audited.
	stateAuthenticated
	// stateMalformed: the request is ignored. The error is JSON, and the connection is closed.
	stateMalformed
	// stateNegotiated: the format is final, also for errors.
	stateNegotiated
	// stateForwarded: the response of another server is forwarded.
	stateForwarded
	// stateHijacked: a watch or a tunnel owns the connection and writes the response.
	stateHijacked
	// statePanicked: the handler panicked, and the response is a 500.
	statePanicked
	// stateCut: the handler panicked while it forwarded a response.
	stateCut
)

func (s state) formatKnown() bool { return s >= stateMalformed }

func (s state) panicked() bool { return s >= statePanicked }

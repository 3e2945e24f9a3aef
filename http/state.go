package http

// A state is the progress of a request. It determines which code writes the response and how an
// error is handled:
//
//	received ──▶ authenticated ──▶ negotiated ──▶ hijacked
//	   ├──▶ malformed      └──────────────┴──▶ forwarded ──▶ hijacked, or cut by a panic
//	   └──▶ refused
//
// A panic leads to panicked, unless the response is already forwarded or hijacked.
type state uint8

const (
	// stateReceived means that the user is not known yet. Errors are encoded as the Accept header
	// requests, with JSON as the default.
	stateReceived state = iota
	// stateRefused means that the request was rejected before its user was known.
	stateRefused
	// stateAuthenticated means that the user and the audit decision are known.
	stateAuthenticated
	// stateMalformed means that the request cannot be processed. The error is in JSON, and the
	// connection closes.
	stateMalformed
	// stateNegotiated means that the response format, including that of errors, is known.
	stateNegotiated
	// stateForwarded means that the response of another server is being forwarded.
	stateForwarded
	// stateHijacked means that a watch or a tunnel owns the connection and writes the response.
	stateHijacked
	// statePanicked means that the handler panicked, and the response is a 500.
	statePanicked
	// stateCut means that the handler panicked while it forwarded a response.
	stateCut
)

func (s state) formatKnown() bool { return s >= stateMalformed }

func (s state) panicked() bool { return s >= statePanicked }

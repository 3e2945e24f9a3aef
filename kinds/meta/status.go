package meta

// A Status is the error type of every layer: the body that the client gets.
// Internal text never goes in; it is logged.
type Status struct {
	Code    int    // HTTP status code
	Reason  Reason // "" only where the API defines none
	Message string
	Details *Details
	// Continue is the token that a list may go on with after this failure; mostly "".
	Continue string
	// Success makes it the answer "status: Success" instead of "Failure".
	Success bool
}

// Error is the message.
func (s *Status) Error() string { return s.Message }

// Details say what a Status is about.
type Details struct {
	Name, Group, Kind, UID string
	Causes                 []Cause
	RetryAfterSeconds      int
}

// A Cause is one fault of a Status, mostly of one field.
type Cause struct {
	Type    CauseType
	Message string // as in "Invalid value: \"x\": must be ..."
	Field   string // path as in spec.containers[0].name; "" if no field is at fault
}

// A Reason is the machine-readable cause of a Failure.
type Reason string

// The closed list of reasons; errors.go has a constructor, with the HTTP code, for each.
const (
	ReasonUnknown              Reason = ""
	ReasonBadRequest           Reason = "BadRequest"
	ReasonUnauthorized         Reason = "Unauthorized"
	ReasonForbidden            Reason = "Forbidden"
	ReasonNotFound             Reason = "NotFound"
	ReasonMethodNotAllowed     Reason = "MethodNotAllowed"
	ReasonNotAcceptable        Reason = "NotAcceptable"
	ReasonAlreadyExists        Reason = "AlreadyExists"
	ReasonConflict             Reason = "Conflict"
	ReasonGone                 Reason = "Gone"
	ReasonExpired              Reason = "Expired"
	ReasonRequestTooLarge      Reason = "RequestEntityTooLarge"
	ReasonUnsupportedMediaType Reason = "UnsupportedMediaType"
	ReasonInvalid              Reason = "Invalid"
	ReasonTooManyRequests      Reason = "TooManyRequests"
	ReasonInternalError        Reason = "InternalError"
	ReasonServiceUnavailable   Reason = "ServiceUnavailable"
	ReasonTimeout              Reason = "Timeout"
	ReasonServerTimeout        Reason = "ServerTimeout"
	ReasonInsufficientStorage  Reason = "InsufficientStorage"
	ReasonStorageRead          Reason = "StorageReadError"
)

// A CauseType is the machine-readable kind of a Cause.
type CauseType string

// The causes of field faults, and of versions.
const (
	CauseRequired      CauseType = "FieldValueRequired"
	CauseInvalid       CauseType = "FieldValueInvalid"
	CauseDuplicate     CauseType = "FieldValueDuplicate"
	CauseNotFound      CauseType = "FieldValueNotFound"
	CauseNotSupported  CauseType = "FieldValueNotSupported"
	CauseForbidden     CauseType = "FieldValueForbidden"
	CauseTooLong       CauseType = "FieldValueTooLong"
	CauseTooMany       CauseType = "FieldValueTooMany"
	CauseTypeInvalid   CauseType = "FieldValueTypeInvalid"
	CauseInternal      CauseType = "InternalError"
	CauseTooLarge      CauseType = "ResourceVersionTooLarge"
	CauseUnexpected    CauseType = "UnexpectedServerResponse"
	CauseFieldConflict CauseType = "FieldManagerConflict"
	// CauseNamespaceTerminating says that nothing is created in a namespace that is being deleted.
	CauseNamespaceTerminating CauseType = "NamespaceTerminating"
)

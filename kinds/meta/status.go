package meta

// A Status is the error type of every layer, and the body that clients receive. Internal details
// are logged instead.
type Status struct {
	Code    int    // HTTP status code
	Reason  Reason // "" only where the API defines none
	Message string
	Details *Details
	// Continue is the token with which a list may continue after this failure, usually "".
	Continue string
	// Success makes the status "Success" instead of "Failure".
	Success bool
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

// Details identify the subject of a Status.
type Details struct {
	Name, Group, Kind, UID string
	Causes                 []Cause
	RetryAfterSeconds      int
}

// A Cause is one error of a Status, usually of one field.
type Cause struct {
	Type    CauseType
	Message string // as in "Invalid value: \"x\": must be ..."
	Field   string // such as spec.containers[0].name; "" if no field is invalid
}

// A Reason is the machine-readable cause of a Failure.
type Reason string

// All reasons; errors.go has constructors with the HTTP codes.
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

// Causes of field errors and version errors.
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
	// CauseNamespaceTerminating says that the namespace is being deleted.
	CauseNamespaceTerminating CauseType = "NamespaceTerminating"
)

package meta

// A Status is the error type of every layer and the body that clients receive. It contains no
// internal details, which are logged instead.
type Status struct {
	Code    int    // HTTP status code
	Reason  Reason // "" only where the API defines none
	Message string
	Details *Details
	// Continue is the token for continuing a list after this failure, or empty.
	Continue string
	// Success sets the status field to "Success" instead of "Failure".
	Success bool
}

func (s *Status) Error() string { return s.Message }

// Details identifies the subject of a Status.
type Details struct {
	Name, Group, Kind, UID string
	Causes                 []Cause
	RetryAfterSeconds      int
}

// A Cause is one error of a Status, usually about one field.
type Cause struct {
	Type    CauseType
	Message string // as in "Invalid value: \"x\": must be ..."
	Field   string // such as spec.containers[0].name; "" if no field is invalid
}

// A Reason is the machine-readable reason of a failure.
type Reason string

// All reasons. The constructors in errors.go set the corresponding HTTP codes.
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

// A CauseType is the machine-readable type of a Cause.
type CauseType string

// Types of field errors and of resource version errors.
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
	// CauseNamespaceTerminating reports that the namespace is being deleted.
	CauseNamespaceTerminating CauseType = "NamespaceTerminating"
)

package rest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A StatusError is a failure that the server tells.
type StatusError struct {
	Code    int
	Reason  string // such as NotFound; "" if there is none
	Message string
	Details tree.Tree // name, kind, causes; may be nil
}

// maxFailure bounds the text of a failure.
const maxFailure = 1 << 20

// failure reads the answer to a request that failed.
func failure(response *http.Response) error {
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < 400 {
		return fmt.Errorf("the server answers with status %d, that %s is to be asked; it is not, since the client configuration names another server",
			response.StatusCode, to)
	}
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxFailure))
	t, err := document.Parse(body)
	if err != nil || t.String("kind") != "Status" {
		text := strings.TrimSpace(string(body))
		return &StatusError{Code: response.StatusCode, Message: cmp.Or(text, http.StatusText(response.StatusCode))}
	}
	return StatusOf(t, response.StatusCode)
}

// StatusOf is an object of the kind Status as an error.
func StatusOf(t tree.Tree, code int) *StatusError {
	if n, ok := t.Int("code"); ok {
		code = int(n)
	}
	return &StatusError{Code: code, Reason: t.String("reason"), Message: t.String("message"), Details: t.Object("details")}
}

func (e *StatusError) Error() string { return e.Describe("") }

// Describe is the error as people read it; doing says what was done, such as `error when creating "x.yaml": `.
//
// The words are those that users of kubectl know.
func (e *StatusError) Describe(doing string) string {
	switch {
	case e.Code == http.StatusUnauthorized:
		return fmt.Sprintf("error: %sYou must be logged in to the server (Unauthorized)", doing)
	case e.Reason == "Invalid":
		return e.invalid()
	case e.Code == http.StatusUnprocessableEntity || e.Reason == "":
		return fmt.Sprintf("Error from server: %s%s", doing, e.Message)
	}
	return fmt.Sprintf("Error from server (%s): %s%s", e.Reason, doing, e.Message)
}

// invalid lists the faults of an object.
func (e *StatusError) invalid() string {
	subject := "The request is invalid"
	if kind := e.Details.String("kind"); kind != "" {
		subject = fmt.Sprintf("The %s %q is invalid", kind, e.Details.String("name"))
	}
	var faults []string
	for _, cause := range e.Details.Objects("causes") {
		fault := cause.String("message")
		if field := cause.String("field"); field != "" {
			fault = field + ": " + fault
		}
		if !slices.Contains(faults, fault) { // some servers tell one twice
			faults = append(faults, fault)
		}
	}
	switch len(faults) {
	case 0:
		return subject + ": " + e.Message
	case 1:
		return subject + ": " + faults[0]
	}
	return subject + ":\n* " + strings.Join(faults, "\n* ")
}

// IsNotFound tells whether the server has said that there is no such object.
func IsNotFound(err error) bool { return HasCode(err, http.StatusNotFound) }

// IsConflict tells whether the server has said that the object is another one by now.
func IsConflict(err error) bool { return HasCode(err, http.StatusConflict) }

// IsExpired tells whether a version, or a token of a list, is too old.
func IsExpired(err error) bool { return HasCode(err, http.StatusGone) }

// HasCode tells whether the server has told a failure of one of these codes.
func HasCode(err error, codes ...int) bool {
	var e *StatusError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

// retryAfter is how long a server that is too busy wants to be left alone.
func retryAfter(response *http.Response) (time.Duration, bool) {
	if response.StatusCode != http.StatusTooManyRequests && response.StatusCode < 500 {
		return 0, false
	}
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > 60 {
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

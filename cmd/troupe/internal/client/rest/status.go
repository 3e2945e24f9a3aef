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

// A StatusError is an error response from the server.
type StatusError struct {
	Code    int
	Reason  string // such as NotFound; may be ""
	Message string
	Details tree.Tree // name, kind, causes; may be nil
}

// maxFailure is the maximum size of an error response's body in bytes.
const maxFailure = 1 << 20

func failure(response *http.Response) error {
	if to := response.Header.Get("Location"); to != "" && response.StatusCode < 400 {
		return fmt.Errorf("refused to follow the redirect (status %d) to %s, which is not the server of the kubeconfig",
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

// StatusOf converts a Status object to an error. If the object has no code, it uses code.
func StatusOf(t tree.Tree, code int) *StatusError {
	if n, ok := t.Int("code"); ok {
		code = int(n)
	}
	return &StatusError{Code: code, Reason: t.String("reason"), Message: t.String("message"), Details: t.Object("details")}
}

func (e *StatusError) Error() string { return e.Describe("") }

// Describe returns the message that kubectl would print. doing is a prefix that names the failed
// action, such as `error when creating "x.yaml": `.
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
		if !slices.Contains(faults, fault) { // some servers report a cause twice
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

// IsNotFound reports whether err is a 404 response.
func IsNotFound(err error) bool { return HasCode(err, http.StatusNotFound) }

// IsConflict reports whether err is a 409 response.
func IsConflict(err error) bool { return HasCode(err, http.StatusConflict) }

// IsExpired reports whether err is a 410 response: the resource version or continue token is too
// old.
func IsExpired(err error) bool { return HasCode(err, http.StatusGone) }

// HasCode reports whether err is a response with one of the codes.
func HasCode(err error, codes ...int) bool {
	var e *StatusError
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
}

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

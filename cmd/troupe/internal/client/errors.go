package client

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

// exitInterrupted is the code of commands that Ctrl-C has ended.
const exitInterrupted = 130

// An Error is how a command of the client ended.
type Error struct {
	Text string // what people read; "" if all is said
	Code int    // of the process; 0 is 1
}

func (e *Error) Error() string { return e.Text }

// usageError is one of what the user has written.
type usageError string

func (e usageError) Error() string { return string(e) }

// sourced is a failure with what was done and by which file.
type sourced struct {
	doing, source string
	err           error
}

func (e *sourced) Error() string { return describe(e.err, e.prefix()) }
func (e *sourced) Unwrap() error { return e.err }

func (e *sourced) prefix() string {
	if e.source == "" {
		return ""
	}
	return "error when " + e.doing + " \"" + e.source + "\": "
}

// describe is an error as people read it.
func describe(err error, doing string) string { return printer.Safe(words(err, doing)) }

func words(err error, doing string) string {
	var status *rest.StatusError
	var unknown *discovery.UnknownError
	var inner *sourced
	switch {
	case errors.As(err, &inner):
		return describe(inner.err, inner.prefix())
	case errors.As(err, &status):
		return status.Describe(doing)
	case errors.As(err, &unknown):
		return unknown.Error()
	case errors.As(err, new(*Error)):
		return err.Error()
	}
	return "error: " + doing + err.Error()
}

// asError is the end of a command that an error makes; nil if there is none.
func asError(err error) error {
	if err == nil {
		return nil
	}
	if all := unjoin(err); len(all) > 1 {
		var texts []string
		for _, one := range all {
			texts = append(texts, describe(one, ""))
		}
		return &Error{Text: strings.Join(texts, "\n")}
	}
	var end *Error
	if errors.As(err, &end) {
		return &Error{Text: printer.Safe(end.Text), Code: end.Code}
	}
	return &Error{Text: describe(err, "")}
}

// unjoin are the errors of which one was made by errors.Join, and those of which they were.
func unjoin(err error) (all []error) {
	many, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	for _, one := range many.Unwrap() {
		all = append(all, unjoin(one)...)
	}
	return all
}

// failedTo says what a server has refused to do, in its own words.
func failedTo(do string, err error) error {
	var status *rest.StatusError
	if errors.As(err, &status) && status.Message != "" {
		return &Error{Text: "error: failed to " + do + ": " + status.Message}
	}
	return err
}

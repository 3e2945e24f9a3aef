package client

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/discovery"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/manifest"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/printer"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
)

const exitInterrupted = 130

// An Error is the message and the exit code of a failed command.
type Error struct {
	Text string // the message; "" if it has been printed already
	Code int    // the exit code; 0 means 1
}

func (e *Error) Error() string { return e.Text }

type usageError string

func (e usageError) Error() string { return string(e) }

// sourced wraps an error with the failed action and the source file.
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

func asError(err error) error {
	if err == nil {
		return nil
	}
	if all := manifest.Unjoin(err); len(all) > 1 {
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

func failedTo(do string, err error) error {
	var status *rest.StatusError
	if errors.As(err, &status) && status.Message != "" {
		return &Error{Text: "error: failed to " + do + ": " + status.Message}
	}
	return err
}

package webhookclient

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/remote"
)

// ReadReview decodes the review in a response. A status code outside 200 to 206 is an error.
func ReadReview(r remote.Response) (tree.Tree, error) {
	if r.Code < http.StatusOK || r.Code > http.StatusPartialContent {
		return nil, responseError(r)
	}
	v, _, err := codec.DecodeAny(r.Body)
	if err != nil {
		return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, errors.New("couldn't get version/kind; json parse error: the response is not an object")
	}
	return t, nil
}

// maxShown is the maximum length of a truncated text in bytes.
const maxShown = 2048

func responseError(r remote.Response) error {
	if v, _, err := codec.DecodeAny(r.Body); err == nil {
		if t, ok := v.(tree.Tree); ok && t.String("kind") == "Status" && t.String("message") != "" {
			return errors.New(Truncate(t.String("message")))
		}
	}
	switch {
	case r.Code == http.StatusNotFound:
		return errors.New("the server could not find the requested resource")
	case r.Code == http.StatusUnauthorized:
		return errors.New("the server has asked for the client to provide credentials")
	case r.Code == http.StatusForbidden:
		return errors.New(Truncate(strings.TrimSpace(string(r.Body))))
	case r.Code == http.StatusTooManyRequests:
		return errors.New("the server has received too many requests and has asked us to try again later")
	case r.Code == http.StatusServiceUnavailable:
		return errors.New("the server is currently unable to handle the request")
	case r.Code == http.StatusGatewayTimeout:
		return errors.New("the server was unable to return a response in the time allotted, but may still be processing the request")
	case r.Code >= http.StatusInternalServerError:
		return fmt.Errorf("an error on the server (%q) has prevented the request from succeeding", Truncate(strings.TrimSpace(string(r.Body))))
	}
	return fmt.Errorf("the server responded with the status code %d but did not return more information", r.Code)
}

// Truncate shortens a text from a webhook for errors, logs and audit events, and replaces invalid
// UTF-8.
func Truncate(text string) string {
	if len(text) <= maxShown {
		return strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	cut := maxShown
	for cut > maxShown-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.ToValidUTF8(text[:cut], string(utf8.RuneError)) + "…"
}

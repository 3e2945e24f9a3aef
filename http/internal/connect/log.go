package connect

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/http/internal/proxy"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Log returns the target for a container log, or nil if the Pod is not scheduled yet.
func (l *Locator) Log(r Request) (*proxy.Target, error) {
	// Report invalid options even if the Pod does not exist.
	if err := validateLog(r.Name, r.Options); err != nil {
		return nil, err
	}
	pod, err := l.get(podsResource, r.Namespace, r.Name)
	if err != nil {
		return nil, err
	}
	container, err := chooseContainer(r.Name, pod, r.Options.String("container"))
	if err != nil {
		return nil, err
	}
	node := pod.Object("spec").String("nodeName")
	if node == "" {
		return nil, nil
	}
	// The Pod and container exist, so their names need no escaping.
	at, err := l.kubeletURL(node, "/containerLogs/"+r.Namespace+"/"+r.Name+"/"+container, logQuery(r.Options))
	if err != nil {
		return nil, err
	}
	t := &proxy.Target{
		URL: at, Backend: l.Kubelets.Trusted, UseHost: true, IgnoreUpgrade: true,
		// This request is the server's own, so it must not contain client headers.
		EditHeader:   func(h http.Header) { clear(h); h["User-Agent"] = nil },
		EditResponse: func(resp *http.Response) error { return checkLog(r.Name, at, resp) },
		Fault: func(err error) error {
			return internal((&url.Error{Op: "Get", URL: at.String(), Err: err}).Error())
		},
	}
	// Connections are reused, so unverified connections need a separate pool.
	if r.Options.Bool("insecureSkipTLSVerifyBackend") {
		t.Backend = l.Kubelets.Unverified
	}
	return t, nil
}

// logQuery returns the query for the kubelet. It omits unset options, so that the kubelet's
// defaults apply.
func logQuery(o tree.Tree) url.Values {
	q := url.Values{"stream": {o.String("stream")}}
	for _, name := range []string{"follow", "previous", "timestamps"} {
		if o.Bool(name) {
			q.Set(name, "true")
		}
	}
	for _, name := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
		if n, ok := o.Int(name); ok {
			q.Set(name, strconv.FormatInt(n, 10))
		}
	}
	if t := o.String("sinceTime"); t != "" {
		q.Set("sinceTime", t)
	}
	return q
}

// maxFaultText is the number of bytes read from a kubelet's error response.
const maxFaultText = 10 << 10

// checkLog prepares the kubelet's log response for the client. It returns the kubelet's error
// responses as a Status.
func checkLog(pod string, at *url.URL, resp *http.Response) error {
	// With a redirect, the kubelet could make the server send any request with its credentials.
	if code := resp.StatusCode; code >= 300 && code < 400 && resp.Header.Get("Location") != "" {
		return internal(fmt.Sprintf("Get %q: redirects forbidden", at))
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 206 {
		// The kubelet's Content-Type is ignored, because a browser must not render a log as a page.
		maps.DeleteFunc(resp.Header, func(name string, _ []string) bool { return name != "Content-Encoding" })
		resp.Header.Set("Content-Type", "text/plain")
		resp.StatusCode = http.StatusOK
		return nil
	}
	// The error text concerns only the requested log, so the client may see it. The kubelet sends
	// no Status, so the status code determines the reason.
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxFaultText))
	if err != nil {
		return internal("Internal error occurred: " + err.Error())
	}
	return logFault(resp.StatusCode, pod, string(text))
}

// logFaults maps kubelet status codes to reasons and messages. If the message is empty, the
// kubelet's text is used.
var logFaults = map[int]struct {
	reason  meta.Reason
	message string
}{
	401: {meta.ReasonUnauthorized, "the server has asked for the client to provide credentials"},
	403: {meta.ReasonForbidden, ""},
	404: {meta.ReasonNotFound, "the server could not find the requested resource"},
	405: {meta.ReasonMethodNotAllowed, "the server does not allow this method on the requested resource"},
	406: {meta.ReasonNotAcceptable, ""},
	409: {meta.ReasonConflict, "the server reported a conflict"},
	422: {meta.ReasonInvalid, "the server rejected our request due to an error in our request"},
	429: {meta.ReasonTooManyRequests, "the server has received too many requests and has asked us to try again later"},
	503: {meta.ReasonServiceUnavailable, "the server is currently unable to handle the request"},
	504: {meta.ReasonTimeout, "the server was unable to return a response in the time allotted, but may still be processing the request"},
}

// logFault converts a kubelet's error response to a Status. Messages and reasons match those of
// kube-apiserver and its client library.
func logFault(code int, pod, text string) *meta.Status {
	s := &meta.Status{Code: code, Details: &meta.Details{Kind: "pods/log", Name: pod}}
	known, ok := logFaults[code]
	switch {
	case code == http.StatusInternalServerError:
		return &meta.Status{
			Code: code, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + text,
			Details: &meta.Details{Causes: []meta.Cause{{Message: text}}},
		}
	case code == http.StatusBadRequest:
		return meta.NewBadRequest(text)
	case ok:
		s.Reason, s.Message = known.reason, known.message
		if s.Message == "" {
			s.Message = text
		}
	case code >= 500:
		s.Reason, s.Message = meta.ReasonInternalError, fmt.Sprintf("an error on the server (%q) has prevented the request from succeeding", text)
	default:
		s.Message = fmt.Sprintf("the server responded with the status code %d but did not return more information", code)
	}
	s.Message = strings.TrimSpace(s.Message) + fmt.Sprintf(" ( pods/log %s)", pod)
	return s
}

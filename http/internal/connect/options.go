package connect

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Options parses a request's connect options, for admission. path is the path after the
// subresource. Every error is a *meta.Status.
func Options(subresource string, q requestinfo.Query, path string) (tree.Tree, error) {
	o := tree.Tree{}
	// For proxy, only the path is an option. The query is forwarded to the backend.
	switch subresource {
	case "proxy":
		if path != "" {
			o["path"] = path
		}
		return o, nil
	case "portforward":
		return o, readPorts(o, q)
	case "log":
		return o, readLogOptions(o, q)
	// Each word of the command is a separate parameter, because no shell parses the command.
	case "exec":
		var command []any
		for _, word := range q.All("command") {
			command = append(command, word)
		}
		o["command"] = command
	}
	for _, name := range []string{"stdin", "stdout", "stderr", "tty"} {
		readFlag(o, q, name)
	}
	readText(o, q, "container")
	return o, nil
}

// readFlag copies a boolean query parameter to o if it is true. It omits false, so that admission
// plugins cannot distinguish false from a missing parameter.
func readFlag(o tree.Tree, q requestinfo.Query, name string) {
	if q.Flag(name) {
		o[name] = true
	}
}

func readText(o tree.Tree, q requestinfo.Query, name string) {
	if text := q.Get(name); text != "" {
		o[name] = text
	}
}

// readPorts parses the ports of a port-forward, with kube-apiserver's error messages. Only
// WebSocket clients send ports in the query.
func readPorts(o tree.Tree, q requestinfo.Query) error {
	var ports []any
	for _, text := range q.All("ports") {
		port, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return meta.NewBadRequest(err.Error())
		}
		ports = append(ports, port)
	}
	if ports != nil {
		o["ports"] = ports
	}
	return nil
}

const (
	streamAll    = "All"
	streamStdout = "Stdout"
	streamStderr = "Stderr"
)

// readLogOptions parses log options. It returns a 400 for a malformed number or time. validateLog
// reports all other errors in one Status.
func readLogOptions(o tree.Tree, q requestinfo.Query) error {
	for _, name := range []string{"follow", "previous", "timestamps", "insecureSkipTLSVerifyBackend"} {
		readFlag(o, q, name)
	}
	readText(o, q, "container")
	for _, name := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
		if _, ok := q.Lookup(name); !ok {
			continue
		}
		n, err := q.Number(name)
		if err != nil {
			return err
		}
		o[name] = n
	}
	// Clients encode an unset time as null.
	if text := q.Get("sinceTime"); text != "" && text != "null" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return meta.NewBadRequest(err.Error())
		}
		o["sinceTime"] = t.Local().Format(time.RFC3339)
	}
	o["stream"] = streamAll
	if text, ok := q.Lookup("stream"); ok {
		o["stream"] = text
	}
	return nil
}

func validateLog(pod string, o tree.Tree) error {
	var f schema.Faults
	// Clients may request zero lines to check whether a log exists.
	if n, ok := o.Int("tailLines"); ok && n < 0 {
		f.Invalid("tailLines", n, "must be greater than or equal to 0")
	}
	if n, ok := o.Int("limitBytes"); ok && n < 1 {
		f.Invalid("limitBytes", n, "must be greater than 0")
	}
	seconds, since := o.Int("sinceSeconds")
	switch {
	case since && o.Has("sinceTime"):
		f.Report(meta.CauseForbidden, "", "Forbidden", "at most one of `sinceTime` or `sinceSeconds` may be specified")
	case since && seconds < 1:
		f.Invalid("sinceSeconds", seconds, "must be greater than 0")
	}
	stream := o.String("stream")
	if stream != streamAll && stream != streamStdout && stream != streamStderr {
		f.NotSupported("stream", stream, []string{streamAll, streamStderr, streamStdout})
	}
	// The kubelet counts lines before it separates the streams, so the last lines might not
	// include the requested stream.
	if stream != streamAll && o.Has("tailLines") {
		f.Report(meta.CauseForbidden, "", "Forbidden", "`tailLines` and specific `stream` are mutually exclusive for now")
	}
	if len(f.List) == 0 {
		return nil
	}
	return meta.NewInvalid(meta.GroupKind{Kind: "PodLogOptions"}, pod, f.List)
}

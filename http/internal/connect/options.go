package connect

import (
	"strconv"
	"time"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Options reads what a request wants of its connection, as admission sees it. path is that behind the
// sub-resource. The error is a *meta.Status.
func Options(subresource string, q requestinfo.Query, path string) (tree.Tree, error) {
	o := tree.Tree{}
	// A proxy has one option, the path; all else of the query belongs to who is proxied to.
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
	// Each word is a parameter of its own: a shell never sees the command, so nothing in it can be taken for another one.
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

// readFlag leaves out what is false, as encoders do, so that admission sees the same options whether a client has written
// a flag or not.
func readFlag(o tree.Tree, q requestinfo.Query, name string) {
	if q.Flag(name) {
		o[name] = true
	}
}

// readText leaves out what is empty, for the same reason.
func readText(o tree.Tree, q requestinfo.Query, name string) {
	if text := q.Get(name); text != "" {
		o[name] = text
	}
}

// readPorts reads numbers as the public server does, whose errors are those of the parser. Ports are only
// needed over a WebSocket, where there is one message format for all of them.
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

// The streams of a log.
const (
	streamAll    = "All"
	streamStdout = "Stdout"
	streamStderr = "Stderr"
)

// readLogOptions reads what there is, whether it makes sense or not: that is for validateLog, which has a Status with causes.
// A number or a time that is none cannot be looked at any further, and is a bad request.
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
	// Clients that encode a time that is not set send the text null.
	if text := q.Get("sinceTime"); text != "" && text != "null" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return meta.NewBadRequest(err.Error())
		}
		// The agent reads any zone.
		o["sinceTime"] = t.Local().Format(time.RFC3339)
	}
	o["stream"] = streamAll
	if text, ok := q.Lookup("stream"); ok {
		o["stream"] = text
	}
	return nil
}

// validateLog refuses options of a log that make no sense.
func validateLog(pod string, o tree.Tree) error {
	var f schema.Faults
	// None is a number that makes sense: it asks whether there is a log at all.
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
	// Lines are counted before they are told apart, so the last ten might hold none of the stream.
	if stream != streamAll && o.Has("tailLines") {
		f.Report(meta.CauseForbidden, "", "Forbidden", "`tailLines` and specific `stream` are mutually exclusive for now")
	}
	if len(f.List) == 0 {
		return nil
	}
	return meta.NewInvalid(meta.GroupKind{Kind: "PodLogOptions"}, pod, f.List)
}

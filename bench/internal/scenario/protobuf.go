package scenario

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// The media types of --media-type.
const (
	mediaJSON     = "json"
	mediaProtobuf = "protobuf"
)

// protobufSuffix ends the names of workloads whose clients speak Protobuf.
const protobufSuffix = "-protobuf"

// inProtobuf is a workload whose clients speak Protobuf, as typed ones do: the objects that they send, and all answers.
// Patches are JSON whoever sends them.
func inProtobuf(run func(context.Context, *Session) ([]Result, error)) func(context.Context, *Session) ([]Result, error) {
	return func(ctx context.Context, s *Session) ([]Result, error) {
		typed, target := *s, *s.Target
		target.Accept = s.protobuf()
		typed.Target = &target
		results, err := run(ctx, &typed)
		for i := range results {
			workload, variant, varies := strings.Cut(results[i].Name, ",")
			if results[i].Name = workload + protobufSuffix; varies {
				results[i].Name += "," + variant
			}
		}
		return results, err
	}
}

// speakProtobuf replaces workloads by their variants in Protobuf, and leaves out those that have none.
func speakProtobuf(names []string) (variants []string) {
	for _, name := range names {
		if !strings.HasSuffix(name, protobufSuffix) {
			name += protobufSuffix
		}
		if _, there := WorkloadOf(name); there && !slices.Contains(variants, name) {
			variants = append(variants, name)
		}
	}
	return variants
}

// body is the n-th object in its whole, stamped with the time, in the format of the clients.
func (f *fixture) body(n int) (contentType string, body []byte) {
	if accept := f.session.Target.Accept; accept != "" {
		return accept, f.protobufObject(n)
	}
	return server.TypeJSON, f.object(n)
}

// protobufObject is object in Protobuf, in the envelope that says what it is.
func (f *fixture) protobufObject(n int) []byte {
	metadata := appendText(appendText(nil, 1, name(n)), 3, f.namespace)
	object := appendMessage(make([]byte, 0, len(f.payload)+100), 1, metadata)
	sent := strconv.AppendInt(nil, int64(time.Since(epoch)), 10)
	object = appendMessage(object, 2, append(bytes.Clone(sentWireKey), append([]byte{byte(len(sent))}, sent...)...))
	object = appendMessage(object, 2, appendMessage(appendText(nil, 1, "payload"), 2, f.payload))
	return envelope("v1", "ConfigMap", object)
}

// envelope is an object in the envelope that says what it is.
func envelope(apiVersion, kind string, object []byte) []byte {
	b := append(make([]byte, 0, len(object)+50), protobufMagic...)
	b = appendMessage(b, 1, appendText(appendText(nil, 1, apiVersion), 2, kind))
	return appendMessage(b, 2, object)
}

// protobufMagic begins every body in Protobuf.
const protobufMagic = "k8s\x00"

// fieldIn is what is at a path of field numbers in a message, all of which are messages or texts; nil if it is not there.
func fieldIn(message []byte, path ...protowire.Number) []byte {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		size := protowire.ConsumeFieldValue(number, kind, message[max(n, 0):])
		if n < 0 || size < 0 {
			return nil
		}
		if number == path[0] && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			if len(path) == 1 {
				return value
			}
			return fieldIn(value, path[1:]...)
		}
		message = message[n+size:]
	}
	return nil
}

// sentWireKey comes before the length and the digits of the time in Protobuf, as sentKey does in JSON: the key of an entry of a map,
// and the tag of its value.
var sentWireKey = []byte("\x0a\x04sent\x12")

func appendMessage(b []byte, number protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), message)
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

// sentTimeInWire is sentTime for an event in Protobuf.
func sentTimeInWire(event []byte) (time.Duration, error) {
	_, after, found := bytes.Cut(event, sentWireKey)
	if !found || len(after) == 0 || len(after) <= int(after[0]) {
		return 0, fmt.Errorf("unexpected event: %q", server.Excerpt(event))
	}
	sent, err := strconv.ParseInt(string(after[1:1+after[0]]), 10, 64)
	return time.Duration(sent), err
}

// sentTimeFor reads the stamps in the events of a server's streams.
func sentTimeFor(target *server.Target) sentTimeFunc {
	if target.Accept != "" {
		return sentTimeInWire
	}
	return sentTime
}

// scanFrames is a bufio.SplitFunc for events in Protobuf: each comes after its length in four bytes. What precedes an event
// is left to it, so that its bytes are counted.
func scanFrames(data []byte, atEOF bool) (advance int, token []byte, err error) {
	const length = 4
	if len(data) >= length {
		if size := length + int(binary.BigEndian.Uint32(data)); len(data) >= size {
			return size, data[:size], nil
		}
	}
	if atEOF && len(data) > 0 {
		return 0, nil, fmt.Errorf("%d bytes of an event that is cut off", len(data))
	}
	return 0, nil, nil
}

// eventScanner reads the events of a stream; uncounted is what it takes off each of them.
func eventScanner(target *server.Target, lines *bufio.Scanner) (uncounted int64) {
	if target.Accept != "" {
		lines.Split(scanFrames)
		return 0
	}
	return 1 // the line end
}

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

const protobufMagic = "k8s\x00"

// wire encodes a Protobuf message from alternating field numbers and values, which are strings,
// messages or integers.
func wire(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch value := fields[i+1].(type) {
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), value)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), value)
		case int64:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(value))
		}
	}
	return b
}

func postTyped(path, mediaType, apiVersion, kind string, object []byte) Request {
	body := append([]byte(protobufMagic), wire(1, wire(1, apiVersion, 2, kind), 2, object)...)
	return Request{Method: http.MethodPost, Path: path, Type: mediaType, Body: body}
}

// fieldIn returns the string or message at a path of field numbers, or nil.
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

// metadata returns a string from the metadata of an object or list. For speed, it searches the JSON
// text without decoding it. This is safe, because the fixture's objects contain no similar keys.
func (t *Target) metadata(answer []byte, key string, number protowire.Number) string {
	if t.Accept != "" {
		return string(fieldIn(bytes.TrimPrefix(answer, []byte(protobufMagic)), 2, 1, number))
	}
	_, after, _ := bytes.Cut(answer, []byte(`"`+key+`":"`))
	text, _, _ := bytes.Cut(after, []byte(`"`))
	return string(text)
}

func (t *Target) resourceVersionOfList(answer []byte) string {
	return t.metadata(answer, "resourceVersion", 2)
}

func (t *Target) resourceVersion(answer []byte) string {
	return t.metadata(answer, "resourceVersion", 6)
}

func (t *Target) continueToken(answer []byte) string { return t.metadata(answer, "continue", 3) }

func (t *Target) items(answer []byte) int {
	if t.Accept != "" {
		return bytes.Count(answer, []byte("item-"))
	}
	return bytes.Count(answer, []byte(`"name":"item-`))
}

// epoch is the origin of the timestamps in objects, on the monotonic clock.
var epoch = time.Now()

func now() string { return strconv.FormatInt(int64(time.Since(epoch)), 10) }

// sent returns the timestamp in an event. In Protobuf, a tag and a length separate the key from
// the digits.
func (t *Target) sent(event []byte) (time.Duration, bool) {
	key, gap := `"sent":"`, 0
	if t.Accept != "" {
		key, gap = "\x04sent\x12", 1
	}
	_, after, found := bytes.Cut(event, []byte(key))
	if !found || len(after) < gap {
		return 0, false
	}
	digits := after[gap:]
	end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
	sent, err := strconv.ParseInt(string(digits[:max(end, 0)]), 10, 64)
	return time.Duration(sent), err == nil
}

// scanFrames is a bufio.SplitFunc for Protobuf watch events, which have a length prefix of four
// bytes.
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

package storage

import (
	"cmp"
	"slices"

	"github.com/anishathalye/porcupine"
)

// content is the part of an object that a write sets. It includes a unique token, so equal contents
// come from the same write.
type content struct{ body, mark string }

// linearState is the state of an object. If the last write received no response, version is 0 and
// the actual version is greater than floor.
type linearState struct {
	exists  bool
	content content
	version uint64
	floor   uint64
}

// input is one request. For an update, base is the content that the client has read.
type input struct {
	verb    string // get, create, update, patch or delete
	object  string
	content content
	base    content
	version uint64 // version of base
}

// output is one response. The code is 0 if there was no response.
type output struct {
	code    int
	version uint64
	content content
}

// model is the porcupine model of a single object, because histories are partitioned by object.
var model = porcupine.Model{
	Init: func() any { return linearState{} },
	Step: func(s, in, out any) (bool, any) {
		return stepLinear(s.(linearState), in.(input), out.(output))
	},
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			name := o.Input.(input).object
			by[name] = append(by[name], o)
		}
		for _, part := range by {
			parts = append(parts, part)
		}
		slices.SortFunc(parts, func(a, b []porcupine.Operation) int {
			return cmp.Compare(a[0].Input.(input).object, b[0].Input.(input).object)
		})
		return parts
	},
}

// stepLinear reports whether a response is correct in a state, and returns the next state.
func stepLinear(s linearState, in input, out output) (bool, linearState) {
	want, next := expect(s, in)
	if out.code == 0 {
		return true, next
	}
	if out.code != want {
		return false, s
	}
	switch {
	case in.verb == "get" && want == 200:
		bound := s.version == out.version || s.version == 0 && out.version > s.floor
		s.version, s.floor = out.version, out.version
		return bound && out.content == s.content, s
	case next.exists && next != s:
		rises := out.version > max(s.version, s.floor)
		next.version, next.floor = out.version, out.version
		return rises && out.content == next.content, next
	}
	return true, next
}

// expect returns the correct status code of a request and the next state. If the request changes
// the object, the next state has version 0, because only the response contains the version.
func expect(s linearState, in input) (code int, next linearState) {
	written := linearState{exists: true, content: in.content, floor: max(s.version, s.floor)}
	switch {
	case in.verb == "create" && s.exists:
		return 409, s
	case in.verb == "create":
		return 201, written
	case !s.exists:
		return 404, s
	case in.verb == "delete":
		return 200, linearState{floor: written.floor}
	case in.verb == "update" && s.content != in.base:
		return 409, s
	case in.verb == "update":
		return 200, written
	case in.verb == "patch":
		written.content.body = s.content.body
		return 200, written
	}
	return 200, s
}

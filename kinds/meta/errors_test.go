package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

var (
	configMaps  = GroupResource{Resource: "configmaps"}
	deployments = GroupResource{Group: "apps", Resource: "deployments"}
)

func TestStatusJSON(t *testing.T) {
	const head = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":`
	tests := []struct {
		status *Status
		want   string
	}{
		{NewNotFound(configMaps, "a"), `"Failure","message":"configmaps \"a\" not found","reason":"NotFound","details":{"name":"a","kind":"configmaps"},"code":404}`},
		{NewAlreadyExists(deployments, "a"), `"Failure","message":"deployments.apps \"a\" already exists","reason":"AlreadyExists","details":{"name":"a","group":"apps","kind":"deployments"},"code":409}`},
		{NewBadRequest("<x> \u2028é"), `"Failure","message":"\u003cx\u003e \u2028é","reason":"BadRequest","code":400}`},
		{&Status{Code: 500, Message: "m"}, `"Failure","message":"m","code":500}`},
		{NewForbidden(configMaps, "", "why"), `"Failure","message":"configmaps is forbidden: why","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`},
		{NewForbidden(GroupResource{Resource: "namespaces"}, "default", "this namespace may not be deleted"), `"Failure","message":"namespaces \"default\" is forbidden: this namespace may not be deleted","reason":"Forbidden","details":{"name":"default","kind":"namespaces"},"code":403}`},
		{NewMethodNotAllowed(), `"Failure","message":"the server does not allow this method on the requested resource","reason":"MethodNotAllowed","details":{},"code":405}`},
		{NewTooLargeVersion(99999999999, 2176), `"Failure","message":"Timeout: Too large resource version: 99999999999, current: 2176","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}`},
		{NewInvalid(GroupKind{"apps", "ControllerRevision"}, "x", []Cause{{CauseRequired, "Required value", "revision"}}), `"Failure","message":"ControllerRevision.apps \"x\" is invalid: revision: Required value","reason":"Invalid","details":{"name":"x","group":"apps","kind":"ControllerRevision","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"revision"}]},"code":422}`},
	}
	for _, test := range tests {
		got := string(test.status.AppendJSON(nil))
		if got != head+test.want {
			t.Errorf("got  %s\nwant %s", got, head+test.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("not JSON: %s", got)
		}
	}
}

func TestInvalidShowsEachFaultOnce(t *testing.T) {
	a, b := Cause{CauseInvalid, "x", "a"}, Cause{CauseInvalid, "y", "b"}
	s := NewInvalid(GroupKind{Kind: "Pod"}, "p", []Cause{a, b, a})
	if want := `Pod "p" is invalid: [a: x, b: y]`; s.Message != want {
		t.Errorf("got %s, want %s", s.Message, want)
	}
	if len(s.Details.Causes) != 3 {
		t.Errorf("%d causes, want 3", len(s.Details.Causes))
	}
}

func TestAsStatus(t *testing.T) {
	s := NewMethodNotAllowed()
	if got := AsStatus(fmt.Errorf("outer: %w", s)); got != s {
		t.Errorf("got %v", got)
	}
	if got := AsStatus(errors.New("secret detail")); got.Code != 500 || got.Message != "Internal error occurred" {
		t.Errorf("got %+v", got)
	}
}

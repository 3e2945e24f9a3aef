package meta

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// TestWithin checks that a stored object's metadata shares memory with its JSON, not with the
// request.
func TestWithin(t *testing.T) {
	const far = "far behind"
	request := []byte("the-uid app web spec.node <b> v1 Pod owner its-uid finalizer " + far)
	rest := unsafe.String(unsafe.SliceData(request), len(request))
	next := func() (word string) {
		word, rest, _ = strings.Cut(rest, " ")
		return word
	}
	h := ObjectMeta{UID: next(), Generation: 3, Labels: Labels{{next(), next()}}, Fields: []string{next(), "", next()},
		OwnerReferences: []OwnerReference{{next(), next(), next(), next(), true, false}}, Finalizers: []string{next(), rest}, Terminating: true}
	json := []byte(`{"uid":"the-uid","labels":{"app":"web"},"spec":{"a":"spec.node","b":"\u003cb\u003e"},"owners":["v1","Pod","owner","its-uid"],` +
		`"finalizers":["finalizer"],"pad":"` + strings.Repeat("x", 4096) + `","text":"` + far + `"}`)
	want := h.Clone()
	got := h.Within(json)
	copy(request, strings.Repeat("#", len(request)))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(json)))
	for text, inside := range map[*string]bool{
		&got.UID: true, &got.Labels[0].Key: true, &got.Labels[0].Value: true, &got.Fields[0]: true, &got.Fields[2]: false,
		&got.OwnerReferences[0].UID: true, &got.Finalizers[0]: true, &got.Finalizers[1]: false,
	} {
		if at := uintptr(unsafe.Pointer(unsafe.StringData(*text))); (at >= start && at < start+uintptr(len(json))) != inside {
			t.Errorf("%q is a part of the JSON: %v, want %v", *text, !inside, inside)
		}
	}
}

package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// marshal encodes v with the default options of the CBOR library, which differ from those of the
// Kubernetes serializer.
func marshal(t *testing.T, v any) []byte {
	t.Helper()
	b, err := cbor.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// head returns the encoding of a ConfigMap up to its "data" key. The caller appends the value.
func head(t *testing.T, name string) []byte {
	t.Helper()
	whole := marshal(t, []any{"kind", "ConfigMap", "apiVersion", "v1", "metadata", cborObject{"name": name}, "data"})
	whole[0] = 0xa4 // a map of four pairs
	return whole
}

// TestBodies checks which encodings the server accepts in request bodies. It accepts more than the
// Kubernetes serializer writes.
func TestBodies(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	deep := bytes.Repeat([]byte("\xa1\x61a"), 300)
	for name, c := range map[string]struct {
		data string // the value of data, in CBOR
		code int
		want string // the data in JSON, or a part of the error message
	}{
		"text":                 {"\xa1\x61a\x61b", 201, `{"a":"b"}`},
		"byte strings":         {"\xa1\x41a\x41b", 201, `{"a":"b"}`},
		"indefinite":           {"\xbf\x61a\x7f\x61b\x61c\xff\xff", 201, `{"a":"bc"}`},
		"indefinite bytes":     {"\xbf\x41a\x5f\x41b\x41c\xff\xff", 201, `{"a":"bc"}`},
		"long heads":           {"\xba\x00\x00\x00\x01\x78\x01a\x59\x00\x01b", 201, `{"a":"b"}`},
		"tagged inside":        {tag + "\xa1" + tag + "\x61a" + tag + "\x61b", 201, `{"a":"b"}`},
		"base64":               {"\xa1\x61a\xd6\x43\x00\x01\xff", 201, `{"a":"AAH/"}`},
		"base64url":            {"\xa1\x61a\xd5\x42\xff\xfe", 201, `{"a":"__4"}`},
		"base16":               {"\xa1\x61a\xd7\x42\xff\xfe", 201, `{"a":"fffe"}`},
		"base16 of all":        {"\xd7\xa1\x61a\x42\xff\xfe", 201, `{"a":"fffe"}`},
		"time of a number":     {"\xa1\x61a\xc1\x1a\x51\x4b\x67\xb0", 201, `{"a":"2013-03-21T20:04:00Z"}`},
		"time of a text":       {"\xa1\x61a\xc0\x742013-03-21T20:04:00Z", 201, `{"a":"2013-03-21T20:04:00Z"}`},
		"unknown tag":          {"\xa1\x61a\xd8\x63\x61b", 201, `{"a":"b"}`},
		"null":                 {"\xf6", 201, `null`},
		"not UTF-8":            {"\xa1\x61a\x41\xff", 201, `{"a":"�"}`},
		"text not UTF-8":       {"\xa1\x61a\x61\xff", 400, "invalid UTF-8 string"},
		"a number":             {"\xa1\x61a\x01", 400, "cannot unmarshal number into Go struct field ConfigMap.data of type string"},
		"duplicate":            {"\xa2\x61a\x61b\x61a\x61c", 400, `duplicate map key "a"`},
		"duplicate, two types": {"\xa2\x61a\x61b\x41a\x61c", 400, `duplicate map key "a"`},
		"bignum":               {"\xa1\x61a\xc2\x41\x01", 400, "bignum"},
		"large":                {"\xa1\x61a\x1b\xff\xff\xff\xff\xff\xff\xff\xff", 400, "overflows"},
		"NaN":                  {"\xa1\x61a\xf9\x7e\x00", 400, "floating-point NaN"},
		"infinity":             {"\xa1\x61a\xfa\x7f\x80\x00\x00", 400, "floating-point +Inf"},
		"undefined":            {"\xa1\x61a\xf7", 400, "simple value 23"},
		"simple value":         {"\xa1\x61a\xf8\xff", 400, "simple value 255"},
		"break":                {"\xff", 400, `unexpected "break" code`},
		"key of a number":      {"\xa1\x01\x61b", 400, "cannot unmarshal number into Go value of type string"},
		"cut":                  {"\xa1\x61a", 400, "unexpected EOF"},
		"cut string":           {"\xa1\x61a\x7b\x7f\xff\xff\xff\xff\xff\xff\xff", 400, "unexpected EOF"},
		"huge map":             {"\xbb\x7f\xff\xff\xff\xff\xff\xff\xff", 400, "unexpected EOF"},
		"huge list":            {"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", 400, "unexpected EOF"},
		"reserved":             {"\xa1\x61a\x1c", 400, "invalid additional information 28"},
		"chunk of another":     {"\xa1\x61a\x7f\x41b\xff", 400, "indefinite length"},
		"two items":            {"\xa0\xa0", 400, "1 bytes of extraneous data"},
		"deep":                 {string(deep), 400, "exceeded max depth"},
		"deep lists":           {strings.Repeat("\x81", 300), 400, "exceeded max depth"},
		"many tags":            {strings.Repeat("\xc6", 1<<20) + "\xa0", 201, `null`},
	} {
		got := s.send("POST", configMaps+"?dryRun=All", append(head(t, "body"), c.data...), "Content-Type", cborCborType)
		var o struct {
			Data    json.RawMessage
			Message string
		}
		if err := json.Unmarshal(got.Body, &o); err != nil {
			t.Fatalf("%s: %v in %s", name, err, got.Body)
		}
		if o.Data == nil {
			o.Data = []byte("null")
		}
		switch {
		case got.Code != c.code:
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		case c.code == 201 && string(o.Data) != c.want, c.code != 201 && !strings.Contains(o.Message, c.want):
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

// TestCBORFieldValidation checks that unknown fields are handled as in JSON, and that messages
// contain their paths.
func TestCBORFieldValidation(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	pod := cborObject{"apiVersion": "v1", "kind": "Pod", "metadata": cborObject{"name": "a"}, "spec": cborObject{
		"foo": 1, "containers": []any{cborObject{"name": "c", "image": "i", "bar": cborObject{}}},
	}}
	const path = "/api/v1/namespaces/default/pods?dryRun=All&fieldValidation="
	const first, second = `unknown field "spec.containers[0].bar"`, `unknown field "spec.foo"`
	body := encode(t, pod)
	got := s.send("POST", path+"Strict", body, "Content-Type", cborCborType)
	if got.Code != 400 || !strings.Contains(string(got.Body), strings.ReplaceAll("strict decoding error: "+first+", "+second, `"`, `\"`)) {
		t.Errorf("strict: %d %s", got.Code, got.Body)
	}
	got = s.send("POST", path+"Warn", body, "Content-Type", cborCborType)
	warnings := got.Header.Values("Warning")
	if got.Code != 201 || len(warnings) != 2 || !strings.Contains(warnings[0], "spec.containers[0].bar") {
		t.Errorf("warn: %d %v %s", got.Code, warnings, got.Body)
	}
	if got = s.send("POST", path+"Ignore", body, "Content-Type", cborCborType); got.Code != 201 || got.Header.Get("Warning") != "" {
		t.Errorf("ignore: %d %v %s", got.Code, got.Header, got.Body)
	}
	floats := cborObject{"apiVersion": "v1", "kind": "Pod", "metadata": cborObject{"name": "a"}, "spec": cborObject{
		"activeDeadlineSeconds": 1.0, "containers": []any{cborObject{"name": "c", "image": "i"}},
	}}
	if got = s.send("POST", path, encode(t, floats), "Content-Type", cborCborType); got.Code != 400 || !strings.Contains(string(got.Body), "cannot unmarshal number 1.0") {
		t.Errorf("a float for an integer: %d %s", got.Code, got.Body)
	}
}

// TestBytes checks that a field of type bytes accepts a base64 string, and a byte string with any
// of the CBOR tags for text encodings.
func TestBytes(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	raw := []byte{0xde, 0xad, 0xbe, 0xef, 0xff}
	for name, value := range map[string][]byte{
		"base64 text": marshal(t, "3q2+7/8="), "base64 bytes": marshal(t, []byte("3q2+7/8=")),
		"tag 21": slices.Concat([]byte{0xd5}, marshal(t, raw)), "tag 22": slices.Concat([]byte{0xd6}, marshal(t, raw)), "tag 23": slices.Concat([]byte{0xd7}, marshal(t, raw)),
	} {
		secret := marshal(t, cborObject{"apiVersion": "v1", "kind": "Secret", "metadata": cborObject{"name": "a"}, "data": cborObject{"x": cbor.RawMessage(value)}})
		const path = "/api/v1/namespaces/default/secrets?dryRun=All"
		got := s.send("POST", path, secret, "Content-Type", cborCborType)
		if got.Code != 201 || !bytes.Contains(got.Body, []byte(`"data":{"x":"3q2+7/8="}`)) {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
		got = s.send("POST", path, secret, "Content-Type", cborCborType, "Accept", cborCborType)
		if want := slices.Concat([]byte("\xa1\x41x\xd6"), marshal(t, raw)); got.Code != 201 || !bytes.Contains(got.Body, want) {
			t.Errorf("%s: %d %x", name, got.Code, got.Body)
		}
	}
}

// TestTooLargeAsJSON checks that a small body is rejected if its JSON form exceeds the size limit.
func TestTooLargeAsJSON(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	items := bytes.Repeat([]byte{0xa0}, 2<<20) // each takes three bytes in JSON
	body := append(head(t, "a"), 0x9a, 0, 0x20, 0, 0)
	if got := s.send("POST", configMaps, append(body, items...), "Content-Type", cborCborType); got.Code != 413 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	options := append([]byte("\xa1\x46dryRun\x9a\x00\x20\x00\x00"), items...)
	if got := s.send("DELETE", configMaps+"/a", options, "Content-Type", cborCborType); got.Code != 413 {
		t.Errorf("options: %d %s", got.Code, got.Body)
	}
}

func TestDeleteOptions(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	if got := s.send("POST", configMaps, encode(t, publicConfigMap("a", nil)), "Content-Type", cborCborType); got.Code != 201 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	options := cborObject{"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": cborObject{"uid": "other"}}
	if got := s.send("DELETE", configMaps+"/a", encode(t, options), "Content-Type", cborCborType); got.Code != 409 {
		t.Errorf("another uid: %d %s", got.Code, got.Body)
	}
	if got := s.send("DELETE", configMaps+"/a", []byte{0xff}, "Content-Type", cborCborType); got.Code != 400 {
		t.Errorf("malformed: %d %s", got.Code, got.Body)
	}
	delete(options, "preconditions")
	if got := s.send("DELETE", configMaps+"/a", encode(t, options), "Content-Type", cborCborType, "Accept", cborCborType); got.Code != 200 || got.decode(t)["status"] != "Success" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// TestApply checks that an apply in CBOR has the same effect, managed fields and conflict messages
// as one in YAML.
func TestApply(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	const applyType = "application/apply-patch+cbor"
	apply := func(manager string, body []byte) cborAnswer {
		return s.send("PATCH", configMaps+"/a?fieldManager="+manager, body, "Content-Type", applyType)
	}
	if got := apply("one", encode(t, publicConfigMap("a", cborObject{"x": "1", "y": "1"}))); got.Code != 201 {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	first := apply("one", encode(t, publicConfigMap("a", cborObject{"x": "1", "y": "1"})))
	again := s.send("PATCH", configMaps+"/a?fieldManager=one", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","y":"1"}}`), "Content-Type", "application/apply-patch+yaml")
	if first.Code != 200 || !bytes.Equal(first.Body, again.Body) {
		t.Errorf("CBOR %s, YAML %s", first.Body, again.Body)
	}
	if got := apply("two", encode(t, publicConfigMap("a", cborObject{"x": "2"}))); got.Code != 409 || !strings.Contains(string(got.Body), `conflict with \"one\": .data.x`) {
		t.Errorf("a field of another: %d %s", got.Code, got.Body)
	}
	if got := apply("one", encode(t, publicConfigMap("a", cborObject{"x": "1"}))); got.Code != 200 || strings.Contains(string(got.Body), `"y"`) {
		t.Errorf("a field left out: %d %s", got.Code, got.Body)
	}
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"malformed": {[]byte("\xa1"), "error decoding patch: unexpected EOF"},
		"duplicate": {append(head(t, "a"), "\xa2\x61a\x61b\x61a\x61c"...), "duplicate map key"},
		"unknown":   {encode(t, cborObject{"apiVersion": "v1", "kind": "ConfigMap", "metadata": cborObject{"name": "a"}, "foo": 1}), ".foo: field not declared in schema"},
		"no kind":   {encode(t, cborObject{"metadata": cborObject{"name": "a"}}), "invalid object type"},
	} {
		if got := apply("one", c.body); got.Code != 400 || !strings.Contains(string(got.Body), c.want) {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
}

package policy

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

type fuzzer struct {
	t        *testing.T
	s        *client.Server
	r        *rand.Rand
	sent     int
	accepted map[string]int // by content type
}

func pick[T any](h *fuzzer, of ...T) T { return of[h.r.IntN(len(of))] }

// A fieldEdit sets the field at a path to a hostile value.
type fieldEdit struct {
	path  []string
	value rawJSON
}

// apply sets the value in a tree. In a list, it uses the first item.
func (p fieldEdit) apply(t tree.Tree) {
	for i, name := range p.path {
		if i == len(p.path)-1 {
			t[name] = p.value
			return
		}
		switch next := t[name].(type) {
		case tree.Tree:
			t = next
		case []any:
			item, ok := tree.Tree(nil), false
			if len(next) > 0 {
				item, ok = next[0].(tree.Tree)
			}
			if !ok {
				item = tree.Tree{}
				t[name] = []any{item}
			}
			t = item
		default:
			made := tree.Tree{}
			t[name] = made
			t = made
		}
	}
}

// randomEdit selects a field at a random depth, and a hostile value for it.
func (h *fuzzer) randomEdit(k *schema.Kind) fieldEdit {
	if h.r.IntN(4) == 0 {
		return h.metadataEdit(k)
	}
	m, p := k.Message(), fieldEdit{}
	for depth := 0; ; depth++ {
		f := m.Fields[h.r.IntN(len(m.Fields))]
		if depth == 0 && (f.Name == "kind" || f.Name == "apiVersion") {
			continue
		}
		p.path = append(p.path, f.Name)
		if f.Type == schema.TypeMessage && f.Message != nil && len(f.Message.Fields) > 0 && f.Shape != schema.Map && depth < 8 && h.r.IntN(5) > 0 {
			m = f.Message
			continue
		}
		p.value = h.hostile(f)
		return p
	}
}

// metadataEdit edits one of the metadata fields, which are common to all kinds.
func (h *fuzzer) metadataEdit(k *schema.Kind) fieldEdit {
	switch h.r.IntN(4) {
	case 0:
		return fieldEdit{[]string{"metadata", "managedFields"}, rawJSON(`[{"manager":"h","operation":"Update","apiVersion":"` + k.APIVersion() + `","fieldsType":"FieldsV1","time":` +
			string(h.time()) + `,"fieldsV1":` + string(h.fieldSet()) + `}]`)}
	case 1:
		return fieldEdit{[]string{"metadata", "annotations"}, rawJSON(`{"a":` + string(h.str()) + `}`)}
	case 2:
		return fieldEdit{[]string{"metadata", pick(h, "creationTimestamp", "deletionTimestamp")}, h.time()}
	}
	return fieldEdit{[]string{"metadata", "generation"}, h.number()}
}

func (h *fuzzer) hostile(f *schema.Field) rawJSON {
	value := func() rawJSON {
		switch f.Type {
		case schema.TypeTime:
			return h.time()
		case schema.TypeMicroTime:
			return rawJSON(strings.Replace(string(h.time()), ":59", ":59.000000", 1))
		case schema.TypeInt32, schema.TypeInt64, schema.TypeDouble:
			return h.number()
		case schema.TypeQuantity, schema.TypeIntOrString:
			return pick(h, `"1e400"`, `"-0"`, `"0.0000000000001"`, `1e9`, `"9223372036854775808Gi"`, `"1E"`, `2147483648`, h.number(), h.str())
		case schema.TypeDuration:
			return pick[rawJSON](h, `"-2562047h47m16.854775808s"`, `"1ns"`, `"9999999h"`, `0`)
		case schema.TypeBool:
			return pick[rawJSON](h, `true`, `false`, `"true"`, `0`, `null`)
		case schema.TypeBytes:
			return pick(h, `"AB=="`, `"AA\n=="`, `"A"`, `""`, h.str())
		case schema.TypeFields:
			return h.fieldSet()
		case schema.TypeRaw:
			return h.anything()
		case schema.TypeMessage:
			return pick(h, `{}`, `null`, `[]`, h.anything())
		}
		return h.str()
	}
	switch f.Shape {
	case schema.List:
		return pick(h, `[`+value()+`]`, `[null]`, `[{},{}]`, `[`+value()+`,`+value()+`]`)
	case schema.Map:
		return pick(h, `{"a":`+value()+`}`, `{"":`+value()+`,"\u0000":`+value()+`}`, `{"a":null}`)
	}
	return value()
}

func (h *fuzzer) time() rawJSON {
	return pick[rawJSON](h, `"9999-12-31T23:59:59-01:00"`, `"9999-12-31T23:59:59Z"`, `"0000-01-01T00:00:59+01:00"`, `"0000-01-01T00:00:59Z"`,
		`"0001-01-01T00:00:59Z"`, `"2024-02-30T00:00:59Z"`, `"2024-06-01T00:00:60Z"`, `"2024-06-01T00:00:59.999999999+23:59"`,
		`"2024-06-01T00:00:59,5Z"`, `"10000-01-01T00:00:59Z"`, `"-001-01-01T00:00:59Z"`, `""`, `5`, `null`, `"1970-01-01T00:00:59-00:00"`)
}

func (h *fuzzer) number() rawJSON {
	return pick[rawJSON](h, `1e400`, `-0`, `-0.0`, `0`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775808`, `2147483648`, `1.0`,
		`1e3`, `1e-400`, `1.7976931348623157e308`, `"5"`, `0.1`, `12345678901234567890123`, `-1`)
}

func (h *fuzzer) str() rawJSON {
	return pick[rawJSON](h, `"<>&"`, `"\u2028\u2029"`, `"\ud800"`, `"\udc00\ud800"`, "\"\xff\xfe\"", "\"\xed\xa0\x80\"", `"\u0000"`, `"\""`, `"\\"`, `""`, `"a\u0301"`,
		`"},\"metadata\":{\"namespace\":\"kube-system\""`, `"`+rawJSON(strings.Repeat("<", 5000))+`"`, `5`, `{}`, "\"\u2028\"", `"\ufeff"`)
}

func nestedValue(levels int) rawJSON {
	return rawJSON(strings.Repeat(`{"a":[`, levels/2) + strings.Repeat(`]}`, levels/2))
}

func (h *fuzzer) anything() rawJSON {
	return pick(h, h.number(), h.str(), h.time(), nestedValue(100), nestedValue(254), nestedValue(258), nestedValue(400), nestedValue(12_000), nestedValue(40_000), `{"a":1,"a":2}`, `{"a":`+h.number()+`}`,
		`[`+h.number()+`,`+h.str()+`]`, `{"kind":"X","apiVersion":"v1","metadata":{"name":"x"}}`, `{"metadata":{"name":5}}`, `{`+h.str()+`:1}`, `{`, `[1,`, `tru`, ``)
}

func (h *fuzzer) fieldSet() rawJSON {
	return pick(h, `{}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`, `"{\"f:a\":{}}"`, `"}}],\"name\":\"x\"},\"metadata\":{\"namespace\":\"kube-system\",\"name\":\"x\"},\"x\":{"`,
		`"{}"`, `"x"`, `5`, `[]`, `null`, `{"f:a":1e400}`, `{"f:a":-0}`, "{\"f:\xff\":{}}", "{ \"f:a\" :\n{ } }", `{"f:a":{},"f:a":{}}`, `{"k:{\"a\":\"b\"}":{"..":{}}}`,
		`{"f:<":{}}`, nestedValue(300), nestedValue(12_000), `{"f:a":[1,2,{"b":"\u2028"}]}`, h.anything())
}

// writeHostile writes an object with a hostile value, using a random type of write.
func (h *fuzzer) writeHostile(q *fuzzObject) {
	p := h.randomEdit(q.kind)
	body := tree.Clone(q.body).(tree.Tree)
	p.apply(body)
	switch h.r.IntN(8) {
	case 0:
		h.recreate(q, typeJSON, text(body))
	case 1:
		h.recreate(q, typeYAML, "# not JSON\n"+text(body))
	case 2:
		h.send("PUT", q.path(), typeJSON, text(body))
	case 3:
		h.send("PATCH", q.path()+"?fieldManager=h&force=true", typeApply, "# not JSON\n"+text(body))
	case 4:
		patch := tree.Tree{}
		p.apply(patch)
		h.send("PATCH", q.path(), pick(h, typeMerge, typeStrategic), text(patch))
	case 5:
		pointer, _ := strconv.Unquote(strconv.Quote("/" + strings.Join(p.path, "/")))
		h.send("PATCH", q.path(), typeJSONPatch, `[{"op":"add","path":"`+pointer+`","value":`+string(p.value)+`}]`)
	default:
		h.protobuf(q, p)
	}
}

// recreate deletes the object and creates it from body. If body is rejected, it creates the valid
// object again.
func (h *fuzzer) recreate(q *fuzzObject, kind, body string) {
	h.s.Delete(h.t.Context(), q.path()+"?gracePeriodSeconds=0", nil)
	if !h.send("POST", q.collection(), kind, body) {
		mustSend(h.t, h.s, "POST", q.collection(), typeJSON, text(q.body))
	}
}

// send reports whether the server accepts a request. It counts accepted requests.
func (h *fuzzer) send(method, path, kind, body string) bool {
	h.sent++
	answer := mustSend(h.t, h.s, method, path, kind, body)
	ok := answer.Code < 300
	if ok {
		h.accepted[kind]++
	}
	return ok
}

// protobuf writes an object in Protobuf with hostile content: values that are valid in JSON, raw
// values that are not, or flipped and inserted bytes.
func (h *fuzzer) protobuf(q *fuzzObject, p fieldEdit) {
	body := tree.Clone(q.body).(tree.Tree)
	if h.r.IntN(2) == 0 {
		p.apply(body)
	}
	object, _, err := codec.DecodeJSON(q.kind.Message(), []byte(text(body)))
	if err != nil {
		if object, _, err = codec.DecodeJSON(q.kind.Message(), []byte(text(q.body))); err != nil {
			h.t.Fatal(err)
		}
	}
	fields := ""
	if h.r.IntN(3) == 0 {
		fields = cmp.Or(string(h.fieldSet()), " ") // withText cannot insert an empty text
		object.EnsureObject("metadata")["managedFields"] = []any{tree.Tree{"manager": "h", "operation": "Update", "apiVersion": q.kind.APIVersion(),
			"fieldsType": "FieldsV1", "fieldsV1": "%s"}}
	}
	wire := withText(h.t, q.kind, string(codec.AppendValue(nil, q.kind.Message(), object)), fields)
	for range h.r.IntN(3) {
		if at := h.r.IntN(len(wire)); h.r.IntN(2) == 0 {
			wire[at] ^= byte(1 << h.r.IntN(8))
		} else {
			wire = slices.Insert(wire, at, byte(h.r.IntN(256)))
		}
	}
	enveloped := codec.WrapEnvelope(nil, q.kind.APIVersion(), q.kind.Kind, wire)
	if h.r.IntN(2) == 0 {
		h.recreate(q, typeProtobuf, string(enveloped))
		return
	}
	h.send("PUT", q.path(), typeProtobuf, string(enveloped))
}

// blob writes hostile values to an object that allows any content.
func (h *fuzzer) blob() {
	value := string(h.anything())
	body := `{"apiVersion":"hunt.example.com/v1","kind":"Blob","metadata":{"name":"w"},"data":{"x":` + value + `},"items":[{},{}]}`
	switch h.r.IntN(5) {
	case 0:
		h.send("PATCH", blobs+"/w", typeMerge, `{"data":{"x":`+value+`}}`)
	case 1:
		h.send("PATCH", blobs+"/w", typeJSONPatch, `[{"op":"add","path":"/data/y","value":`+value+`},{"op":"copy","from":"/data","path":"/data/z"}]`)
	case 2:
		h.send("PATCH", blobs+"/w?fieldManager=h&force=true", typeApply, body)
	case 3:
		h.send("PATCH", blobs+"/w", typeMerge, `{"data":null}`)
		h.send("PATCH", blobs+"/w", typeMerge, `{"data":{}}`)
	default:
		name := strconv.Itoa(h.r.IntN(1 << 30))
		h.send("POST", blobs, pick(h, typeJSON, typeYAML), strings.Replace(pick(h, "", "\n")+body, `"w"`, `"w`+name+`"`, 1))
	}
}

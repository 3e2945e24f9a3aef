package codec

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", ``, "unexpected end of JSON input"},
		{"cut object", `{"data":{"a":"b"`, "unexpected end of JSON input"},
		{"cut string", `{"data":{"a":"b`, "unexpected end of JSON input"},
		{"cut number", `{"spec":{"count":-`, "unexpected end of JSON input"},
		{"cut literal", `{"spec":{"hostNetwork":tr`, "unexpected end of JSON input"},
		{"text", `hello`, "invalid character 'h' looking for beginning of value"},
		{"list", `[1]`, "json: cannot unmarshal array into Go value of type v1.Thing"},
		{"number", `12`, "json: cannot unmarshal number into Go value of type v1.Thing"},
		{"null", `null`, "json: cannot unmarshal null into Go value of type v1.Thing"},
		{"trailing data", `{} x`, "invalid character 'x' after top-level value"},
		{"two objects", `{}{}`, "invalid character '{' after top-level value"},
		{"trailing comma", `{"data":{},}`, "invalid character '}' looking for beginning of object key string"},
		{"comma in list", `{"spec":{"args":["a",]}}`, "invalid character ']' looking for beginning of value"},
		{"comma in ints", `{"spec":{"ports":[1,]}}`, "invalid character ']' looking for beginning of value"},
		{"comma in messages", `{"spec":{"parts":[{},]}}`, "invalid character ']' looking for beginning of value"},
		{"comma in raw", `{"spec":{"extra":[1,]}}`, "invalid character ']' looking for beginning of value"},
		{"no comma", `{"spec":{} "data":{}}`, "invalid character '\"' after object key:value pair"},
		{"no comma in list", `{"spec":{"args":["a" "b"]}}`, "invalid character '\"' after array element"},
		{"no colon", `{"spec" {}}`, "invalid character '{' after object key"},
		{"single quotes", `{'spec':1}`, `invalid character '\'' looking for beginning of object key string`},
		{"bad literal", `{"immutable":trux}`, "invalid character 'x' in literal true (expecting 'e')"},
		{"leading zero", `{"spec":{"count":012}}`, "invalid character '1' after object key:value pair"},
		{"plus", `{"spec":{"count":+1}}`, "invalid character '+' looking for beginning of value"},
		{"bare point", `{"spec":{"ratio":1.}}`, "invalid character '}' after decimal point in numeric literal"},
		{"bare exponent", `{"spec":{"ratio":1e}}`, "invalid character '}' in exponent of numeric literal"},
		{"bare minus", `{"spec":{"ratio":-a}}`, "invalid character 'a' in numeric literal"},
		{"control character", "{\"data\":{\"a\":\"x\ny\"}}", `invalid character '\n' in string literal`},
		{"control in skipped", "{\"bogus\":\"x\ny\"}", `invalid character '\n' in string literal`},
		{"bad escape", `{"data":{"a":"\x"}}`, "invalid character 'x' in string escape code"},
		{"bad hex", `{"data":{"a":"\u12g4"}}`, `invalid character 'g' in \u hexadecimal character escape`},
		{"number as text", `{"data":{"a":1}}`, "json: cannot unmarshal number into Go struct field Thing.data of type string"},
		{"text as number", `{"spec":{"count":"1"}}`, "json: cannot unmarshal string into Go struct field ThingSpec.spec.count of type int32"},
		{"fraction", `{"spec":{"count":1.5}}`, "json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.count of type int32"},
		{"int32 overflow", `{"spec":{"count":2147483648}}`, "json: cannot unmarshal number 2147483648 into Go struct field ThingSpec.spec.count of type int32"},
		{"int64 overflow", `{"spec":{"big":9223372036854775808}}`, "json: cannot unmarshal number 9223372036854775808 into Go struct field ThingSpec.spec.big of type int64"},
		{"float overflow", `{"spec":{"ratio":1e999}}`, "json: cannot unmarshal number 1e999 into Go struct field ThingSpec.spec.ratio of type float64"},
		{"bool as text", `{"spec":{"args":[true]}}`, "json: cannot unmarshal bool into Go struct field ThingSpec.spec.args of type string"},
		{"object as list", `{"spec":{"args":{}}}`, "json: cannot unmarshal object into Go struct field ThingSpec.spec.args of type []string"},
		{"list as map", `{"data":[]}`, "json: cannot unmarshal array into Go struct field Thing.data of type map[string]string"},
		{"text as message", `{"spec":{"parts":["a"]}}`, "json: cannot unmarshal string into Go struct field ThingSpec.spec.parts of type v1.Part"},
		{"text as messages", `{"spec":{"parts":"a"}}`, "json: cannot unmarshal string into Go struct field ThingSpec.spec.parts of type []v1.Part"},
		{"bool as int-or-string", `{"spec":{"target":true}}`, "json: cannot unmarshal bool into Go struct field ThingSpec.spec.target of type int32"},
		{"bad base64", `{"binaryData":{"a":"$"}}`, "illegal base64 data at input byte 0"},
		{"bad time", `{"metadata":{"creationTimestamp":"x"}}`, `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`},
		{"bad duration", `{"spec":{"wait":"x"}}`, `time: invalid duration "x"`},
		{"bad quantity", `{"spec":{"size":"x"}}`, "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"first of two", `{"data":{"a":1},"spec":{"count":true}}`, "json: cannot unmarshal number into Go struct field Thing.data of type string"},
		{"malformed wins", `{"data":{"a":1},"spec":}`, "invalid character '}' looking for beginning of value"},
		{"too deep", `{"spec":{"extra":` + strings.Repeat("[", 1_000_000), "exceeded max depth"},
		{"too deep, skipped", `{"bogus":` + strings.Repeat(`{"a":`, 1_000_000), "exceeded max depth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, _, err := DecodeJSON(thingPlan, []byte(c.in))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, %v; want error %s", tree, err, c.want)
			}
		})
	}
}

func TestDecodeFaults(t *testing.T) {
	in := `{"Data":{},"apiVersion":"v1","kind":"Thing","kind":"Thing","metadata":{"labels":{"a.b":"1","a.b":"2"},"kind":"x"},
		"spec":{"parts":[{"name":"a"},{"nam":1,"name":"x","name":"y","limits":null,"limits":null}],"extra":{"x":1,"x":2}}}`
	tree, faults, err := DecodeJSON(thingPlan, []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`unknown field "Data"`,
		`duplicate field "kind"`,
		`duplicate field "metadata.labels.a.b"`,
		`unknown field "metadata.kind"`,
		`unknown field "spec.parts[1].nam"`,
		`duplicate field "spec.parts[1].name"`,
		`duplicate field "spec.parts[1].limits"`,
		`duplicate field "spec.extra.x"`,
	}
	if got := texts(faults); !reflect.DeepEqual(got, want) {
		t.Errorf("faults\n%s", strings.Join(got, "\n"))
	}
	wantTree := `{"apiVersion":"v1","kind":"Thing","metadata":{"labels":{"a.b":"2"}},"spec":{"extra":{"x":2},"parts":[{"name":"a"},{"name":"y"}]}}`
	if got := string(AppendAny(nil, tree)); got != wantTree {
		t.Errorf("tree %s", got)
	}
}

func texts(faults []FieldFault) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.String())
	}
	return out
}

func TestFaultsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"z":0`)
	for i := range 5000 {
		fmt.Fprintf(&b, `,"x%d":0`, i)
	}
	b.WriteString("}")
	_, faults, err := DecodeJSON(thingPlan, []byte(b.String()))
	if err != nil || len(faults) != maxFaults {
		t.Errorf("%d faults, %v", len(faults), err)
	}
}

func TestDecodeForms(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nulls are absent", `{"data":null,"spec":{"count":null,"parts":null},"metadata":null}`, `{"spec":{}}`},
		{"null elements", `{"data":{"a":null},"spec":{"args":[null,"b"],"parts":[null],"ports":[null]}}`,
			`{"data":{"a":""},"spec":{"args":["","b"],"parts":[{}],"ports":[0]}}`},
		{"raw keeps null", `{"spec":{"extra":{"a":null,"b":[null,1,1.5,-0,12345678901234567890]}}}`,
			`{"spec":{"extra":{"a":null,"b":[null,1,1.5,0,12345678901234567000]}}}`},
		{"raw null is absent", `{"spec":{"extra":null}}`, `{"spec":{}}`},
		{"escapes", `{"data":{"\u0061":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud83dx\ude00"}}`,
			`{"data":{"a":"\"\\/\b\f\n\r\té😀�x�"}}`},
		{"invalid UTF-8", "{\"data\":{\"a\":\"x\xffy\xc3\"}}", `{"data":{"a":"x�y�"}}`},
		{"UTF-8", `{"data":{"a":"grüße 世界, longer than a word"}}`, `{"data":{"a":"grüße 世界, longer than a word"}}`},
		{"zone", `{"metadata":{"creationTimestamp":"2024-03-01T00:30:00.999+01:00"}}`, `{"metadata":{"creationTimestamp":"2024-02-29T23:30:00Z"}}`},
		{"zero time", `{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"}}`, `{"metadata":{}}`},
		{"micro", `{"spec":{"at":"2024-03-01T00:30:00.123456+01:00"}}`, `{"spec":{"at":"2024-02-29T23:30:00.123456Z"}}`},
		{"quantities", `{"spec":{"size":1.5,"parts":[{"limits":{"a":"1000m","b":2,"c":null}}]}}`, `{"spec":{"parts":[{"limits":{"a":"1","b":"2","c":"0"}}],"size":"1500m"}}`},
		{"int or string", `{"spec":{"target":"http"}}`, `{"spec":{"target":"http"}}`},
		{"int or string, int", `{"spec":{"target":80}}`, `{"spec":{"target":80}}`},
		{"duration", `{"spec":{"wait":"90s"}}`, `{"spec":{"wait":"1m30s"}}`},
		{"extreme ints", `{"spec":{"big":-9223372036854775808,"count":-2147483648}}`, `{"spec":{"big":-9223372036854775808,"count":-2147483648}}`},
		{"base64", `{"binaryData":{"a":"YWJj\nZA==","b":"YR==","c":"","d":"YWI="}}`, `{"binaryData":{"a":"YWJjZA==","b":"YQ==","c":"","d":"YWI="}}`},
		{"white space", " \n{ \t\"data\" : { } , \"spec\" : { \"ports\" : [ 1 , 2 ] } } \r\n", `{"data":{},"spec":{"ports":[1,2]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree, faults, err := DecodeJSON(thingPlan, []byte(c.in))
			if err != nil || faults != nil {
				t.Fatal(err, faults)
			}
			if got := string(AppendAny(nil, tree)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			again, faults, err := Conform(thingPlan, tree, nil)
			if err != nil || faults != nil || !reflect.DeepEqual(again, tree) {
				t.Errorf("Conform: %v %v %v", again, faults, err)
			}
		})
	}
}

func TestDecodeAny(t *testing.T) {
	v, faults, err := DecodeAny([]byte(`[{"op":"add","value":9007199254740993,"op":"x"},1.0,true,null,"a"]`))
	want := []any{tree.Tree{"op": "x", "value": int64(9007199254740993)}, int64(1), true, nil, "a"}
	if err != nil || !reflect.DeepEqual(v, want) {
		t.Errorf("%v %v", v, err)
	}
	if got := texts(faults); !reflect.DeepEqual(got, []string{`duplicate field "[0].op"`}) {
		t.Error(got)
	}
	for _, in := range []string{"", "[", "{}x", "1 2", "nul", `"`} {
		if _, _, err := DecodeAny([]byte(in)); err == nil {
			t.Errorf("%q was read", in)
		}
	}
}

func TestNumbersAreReadBack(t *testing.T) {
	for in, want := range map[string]any{
		"5.0": int64(5), "1e2": int64(100), "-0.0": int64(0), "-1.0": int64(-1), "1.5": 1.5, "1e-3": 0.001, "1e18": int64(1e18), "1e19": 1e19, "1e300": 1e300,
		"4.611686018427387904e18": int64(4611686018427388000), "9223372036854775807": int64(math.MaxInt64), "9223372036854775808": 9223372036854775808.0,
	} {
		v, _, err := DecodeAny([]byte(in))
		if err != nil || v != want {
			t.Errorf("%s: %T %v %v", in, v, v, err)
		}
		if again, _, err := DecodeAny(AppendAny(nil, v)); err != nil || again != v {
			t.Errorf("%s: %v is read back as %v, %v", in, v, again, err)
		}
		conformed, _, err := Conform(thingPlan, tree.Tree{"spec": tree.Tree{"extra": json.Number(in)}}, nil)
		if err != nil || conformed.Object("spec")["extra"] != want {
			t.Errorf("%s: %v %v", in, conformed, err)
		}
	}
}

func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"metadata":{"name":"a"}}`, `{"spec":{"parts":[{"limits":{"a":"1"}}]}}`, `{"data":{"a":"\ud800"}}`, `[`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		tree, _, err := DecodeJSON(thingPlan, in)
		if err != nil {
			return
		}
		out := EncodeJSON(thing, tree)
		again, faults, err := DecodeJSON(thingPlan, out.JSON)
		if err != nil || faults != nil {
			t.Fatalf("%s: %v %v", out.JSON, err, faults)
		}
		if second := EncodeJSON(thing, again); string(second.JSON) != string(out.JSON) {
			t.Fatalf("not stable:\n%s\n%s", out.JSON, second.JSON)
		}
		if _, _, err := ParseMeta(thing, out.JSON); err != nil {
			t.Fatal(err)
		}
	})
}

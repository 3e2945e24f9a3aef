package api

import (
	"math/rand"
	"reflect"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A filler fills Go values with random data. The same seed gives the same values.
type filler struct {
	*rand.Rand
	sparse int // one in this many pointers, lists and maps is left empty
}

// words are strings that encoders may treat differently. Go's JSON encoder escapes HTML characters
// and U+2028, and a buggy encoder may split a multi-byte character.
var words = []string{"", "a", "web-1", "<b>&\"\\\n", "grüße", "\u2028", "a text that is somewhat longer than the others"}

func (f filler) word() string { return words[f.Intn(len(words))] }

func (f filler) quantity() resource.Quantity {
	texts := []string{"0", "1", "100m", "1500m", "64Mi", "1Gi", "1e3", "5G"}
	return resource.MustParse(texts[f.Intn(len(texts))])
}

// fillScalarStruct fills a struct that is encoded as a single JSON value, such as a time, and
// returns false for other structs. Times have the precision of their JSON form, seconds or
// microseconds, so that they survive a round trip. Some are after 2038, when 32-bit seconds
// overflow.
func (f filler) fillScalarStruct(v reflect.Value) bool {
	seconds := 1 + f.Int63n(4e9)
	switch to := v.Addr().Interface().(type) {
	case *metav1.TypeMeta: // not encoded inside objects in Protobuf
	case *metav1.Time:
		*to = metav1.Unix(seconds, 0)
	case *metav1.MicroTime:
		*to = metav1.NewMicroTime(time.Unix(seconds, f.Int63n(1e6)*1000))
	case *metav1.Duration:
		to.Duration = time.Duration(seconds) * time.Millisecond
	case *resource.Quantity:
		*to = f.quantity()
	case *intstr.IntOrString:
		*to = intstr.FromInt32(f.Int31())
		if f.Intn(2) == 0 {
			*to = intstr.FromString(f.word())
		}
	case *metav1.FieldsV1:
		to.Raw = []byte(`{"f:a":{".":{},"f:` + strconv.Itoa(f.Intn(100)) + `":{}}}`)
	case *runtime.RawExtension:
		to.Raw = []byte(`{"a":[1,"` + strconv.Itoa(f.Intn(100)) + `",null]}`)
	case *[]byte:
		*to = []byte(f.word() + "x")
	default:
		return false
	}
	return true
}

// recursive reports whether a type may contain itself. Most values of such types stay empty.
func recursive(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return strings.HasPrefix(t.Elem().Name(), "JSONSchemaProps")
	}
	return false
}

// fillJSONValue fills a struct that is encoded as its only non-empty field: arbitrary JSON, or a
// schema that may be a list or bool instead. It matches types by name, because this module does not
// require all of their packages.
func (f filler) fillJSONValue(v reflect.Value) {
	switch v.Type().Name() {
	case "JSON":
		v.FieldByName("Raw").SetBytes([]byte(`{"a":[1,"` + strconv.Itoa(f.Intn(100)) + `",null]}`))
	case "JSONSchemaPropsOrBool":
		if !v.FieldByName("Schema").IsNil() {
			v.FieldByName("Allows").SetBool(true)
		}
	case "JSONSchemaPropsOrArray", "JSONSchemaPropsOrStringArray":
		list := v.Field(1)
		if v.FieldByName("Schema").IsNil() {
			list.Set(reflect.MakeSlice(list.Type(), 1, 1))
		} else {
			list.SetZero()
		}
	}
}

// fill fills v. Only recursive types reach the maximum depth. Integers have both signs and all
// magnitudes, because the length of a Protobuf varint depends on them. Floats are multiples of 1/8,
// which are exact in both binary and decimal.
func (f filler) fill(v reflect.Value, depth int) {
	if f.fillScalarStruct(v) {
		return
	}
	empty := depth > 12 || f.Intn(f.sparse) == 0 || recursive(v.Type()) && f.Intn(6) > 0
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.word())
	case reflect.Bool:
		v.SetBool(f.Intn(2) == 0)
	case reflect.Float64:
		v.SetFloat(float64(f.Intn(1000)) / 8)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(int32(f.Uint32())) >> f.Intn(32))
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), depth+1)
		}
		f.fillJSONValue(v)
	case reflect.Pointer:
		if !empty {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if !empty {
			v.Set(reflect.MakeSlice(v.Type(), 1+f.Intn(2), 2))
			for i := range v.Len() {
				f.fill(v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if !empty {
			v.Set(reflect.MakeMap(v.Type()))
			for range 1 + f.Intn(3) {
				key, item := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				key.SetString(f.word())
				f.fill(item, depth+1)
				v.SetMapIndex(key, item)
			}
		}
	}
}

package codec

import (
	"math"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/tree"
)

// FuzzDecodeCBOR checks that no input panics, and that decoded objects survive a round trip through
// JSON and CBOR.
func FuzzDecodeCBOR(f *testing.F) {
	for _, seed := range []string{
		"\xa0", "\xd9\xd9\xf7\xa1\x48metadata\xa1\x44name\x41a", "\xbf\x64spec\xbf\x65parts\x9f\xa1\x66limits\xa1\x61a\x611\xff\xff\xff",
		"\xa1\x64data\xa1\x61a\xd6\x43\x00\x01\x02", "\xa1\x64data\xa1\x61a\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00", "\xa1\x61a\x1b\x80\x00\x00\x00\x00\x00\x00\x00",
		"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "\xc1\xfb\x7e\x37\xe4\x3c\x88\x00\x75\x9c", "\xff", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		object, _, err := DecodeCBOR(thingPlan, in, 1<<20)
		if err != nil {
			return
		}
		text := AppendValue(nil, thingPlan, object)
		fromJSON, faults, err := DecodeJSON(thingPlan, text)
		if err != nil || faults != nil {
			t.Fatalf("%s: %v %v", text, err, faults)
		}
		again, err := AppendCBOR(nil, thingPlan, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		fromCBOR, faults, err := DecodeCBOR(thingPlan, again, 1<<20)
		if err != nil || faults != nil {
			t.Fatalf("%x: %v %v", again, err, faults)
		}
		if !tree.StrictEqual(fromJSON, fromCBOR) {
			t.Fatalf("%s:\n%v\n%v", text, fromJSON, fromCBOR)
		}
	})
}

func FuzzAppendCBOR(f *testing.F) {
	for _, seed := range []string{`{}`, `{"metadata":{"name":"a"}}`, `{"data":{"b":"2","a":"1","aa":"3"}}`, `{"data":{"a":"\ud800"}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		object, _, err := DecodeJSON(thingPlan, in)
		if err != nil {
			return
		}
		text := AppendValue(nil, thingPlan, object)
		want, _, err := DecodeJSON(thingPlan, text)
		if err != nil {
			t.Fatal(err)
		}
		b, err := AppendCBOR(nil, thingPlan, text)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := DecodeCBOR(thingPlan, b, 4*len(text)+64)
		if err != nil || !tree.StrictEqual(got, want) {
			t.Fatalf("%s: %v\n%v\n%v", text, err, got, want)
		}
	})
}

// TestFloats checks that numbers use the fewest bytes that represent them exactly, and that
// half-precision floats survive a round trip.
func TestFloats(t *testing.T) {
	for n, size := range map[float64]int{
		0: 3, 1: 3, -1.5: 3, 65504: 3, 65505: 5, 65536: 5, 0x1p-14: 3, 0x1p-24: 3, 0x3p-24: 3, 0x1p-25: 5, 0x3p-25: 5,
		0.1: 9, 100000.5: 5, math.MaxFloat64: 9, math.SmallestNonzeroFloat64: 9, math.MaxFloat32: 5, 1.1: 9, math.Copysign(0, -1): 3,
	} {
		b := appendCBORFloat(nil, n)
		if len(b) != size {
			t.Errorf("%g takes %d bytes: %x", n, len(b), b)
		}
		r := cborReader{text: string(b), budget: 100}
		v, err := r.document()
		if err != nil || mustFloat(t, v) != n {
			t.Errorf("%g is read as %v, %v", n, v, err)
		}
	}
	for half := range 1 << 16 {
		n := fromHalf(uint16(half))
		if back, ok := toHalf(float32(n)); !math.IsNaN(n) && !math.IsInf(n, 0) && (!ok || back != uint16(half)) {
			t.Fatalf("%04x is %g, which is %04x", half, n, back)
		}
	}
}

func mustFloat(t *testing.T, v any) float64 {
	t.Helper()
	n, err := v.(interface{ Float64() (float64, error) }).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBudget checks that every type of CBOR item counts toward the size limit by its JSON size.
func TestBudget(t *testing.T) {
	for _, item := range []string{"\xa0", "\x80", "\xa1\x40\x00", "\x00", "\xf6", "\x41a"} {
		const n = 1000
		body := "\xa1\x41x\x99\x03\xe8" + strings.Repeat(item, n)
		if _, _, err := DecodeCBOR(thingPlan, []byte(body), 2*n-1); err != ErrTooLargeAsJSON {
			t.Errorf("%x: %v", item, err)
		}
		if _, _, err := DecodeCBOR(thingPlan, []byte(body), 12*n+64); err != nil {
			t.Errorf("%x: %v", item, err)
		}
	}
}

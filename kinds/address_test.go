package kinds_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/address"
)

const none = ""

func TestParse(t *testing.T) {
	for s, want := range map[string]string{
		"10.0.0.1": "10.0.0.1", "010.000.00.01": "10.0.0.1", "0.0.0.0": "0.0.0.0", "::ffff:10.0.0.1": "10.0.0.1", "::ffff:010.0.0.01": "10.0.0.1",
		"2001:DB8:0:0::00001": "2001:db8::1", "::": "::", "000::00000": "::", "::ffff:a00:1": "10.0.0.1",
		"fe80::1%eth0": none, "": none, "10.0.0": none, "10.0.0.256": none, "0x10.0.0.1": none, "10.0.0.1/8": none, "0": none, "::12345": none, "::0abcde": none, "1..2.3": none,
	} {
		got, err := address.Parse(s)
		if want == none && err == nil || want != none && got.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %q", s, got, err, want)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	for s, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "010.0.0.0/08": "10.0.0.0/8", "10.1.2.3/8": "10.1.2.3/8", "::ffff:10.0.0.0/104": "10.0.0.0/8",
		"::ffff:10.0.0.0/90": "::ffff:10.0.0.0/90", "2001:db8::/032": "2001:db8::/32", "0.0.0.0/0": "0.0.0.0/0", "::/00": "::/0",
		"10.0.0.0": none, "10.0.0.0/": none, "10.0.0.0/33": none, "10.0.0.0/+8": none, "fe80::%eth0/64": none, "::/129": none,
	} {
		got, err := address.ParsePrefix(s)
		if want == none && err == nil || want != none && got.String() != want {
			t.Errorf("ParsePrefix(%q) = %v, %v; want %q", s, got, err, want)
		}
	}
}

func TestIsIPv6(t *testing.T) {
	for s, want := range map[string]bool{"::1": true, "fd00::00001": true, "::ffff:10.0.0.1": false, "10.0.0.01": false, "x": false} {
		if got := address.IsIPv6(s); got != want {
			t.Errorf("IsIPv6(%q) = %v", s, got)
		}
	}
}

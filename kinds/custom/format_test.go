package custom

import "testing"

func TestFormats(t *testing.T) {
	for format, texts := range map[string][2][]string{
		"byte": {{"YQ=="}, {"", "a", "*", "YQ==\n"}}, "cidr": {{"10.0.0.0/8", "::/0"}, {"10.0.0.0", "x"}}, "date": {{"2020-02-29"}, {"2021-02-29", "2020"}},
		"date-time": {{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5+01:00"}, {"2020-01-01", ""}}, "duration": {{"1h", "3 s", "2d", "1h30m"}, {"1", "h", "1x"}},
		"email": {{"a@b.c"}, {"a", "@"}}, "hexcolor": {{"#fff", "a0b1c2"}, {"#ff", "red"}}, "hostname": {{"a.b", "a-1"}, {"A", "-a", "a_b"}},
		"ipv4": {{"1.2.3.4", "::ffff:1.2.3.4"}, {"1.2.3", "::1"}}, "ipv6": {{"::1"}, {"1.2.3.4", "x", "fe80::1%eth0"}}, "mac": {{"00:00:5e:00:53:01"}, {"00:00"}},
		"uri": {{"https://a/b", "urn:x"}, {"a", "/a"}}, "uuid": {{"b1c2d3e4-0000-1000-8000-000000000000"}, {"x", "b1c2d3e4"}},
		"uuid4": {{"b1c2d3e4-0000-4000-8000-000000000000"}, {"b1c2d3e4-0000-1000-8000-000000000000"}}, "unheard-of": {{"", "anything"}, nil},
	} {
		for i, want := range []bool{true, false} {
			for _, s := range texts[i] {
				if got := hasFormat(format, s); got != want {
					t.Errorf("%s %q: %v", format, s, got)
				}
			}
		}
	}
}

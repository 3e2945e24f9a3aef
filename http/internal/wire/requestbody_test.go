package wire

import "testing"

// TestParseChunkSize tests that chunk sizes have at most eight hexadecimal digits, and that
// ambiguous chunk lines are rejected.
func TestParseChunkSize(t *testing.T) {
	for line, want := range map[string]int64{
		"0": 0, "1f": 31, "1F": 31, "ffffffff": 1<<32 - 1, "00000010": 16, "5;name=value": 5, "5 \t;x": 5, "5\t": 5,
		"": -1, ";x": -1, "g": -1, "-1": -1, "+1": -1, "0x1": -1, "1_0": -1, " 1": -1, "1 2": -1, "100000000": -1, "000000001": -1, "5;a\x00": -1, "5;a\x7f": -1,
	} {
		got, err := parseChunkSize([]byte(line))
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%q: %d, %v", line, got, err)
		}
	}
}

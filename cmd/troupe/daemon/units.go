package daemon

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Duration is written as Go writes it, "1m30s", in the file and in flags.
type Duration time.Duration

// String is the written form.
func (d Duration) String() string { return time.Duration(d).String() }

// Set reads the written form.
func (d *Duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is no duration such as 90s or 5m", s)
	}
	*d = Duration(v)
	return nil
}

// Type names the value in help texts.
func (d *Duration) Type() string { return "duration" }

// UnmarshalJSON reads the written form as a JSON string.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return fmt.Errorf("%s is no duration such as 90s or 5m", data)
	}
	return d.Set(s)
}

// Bytes is an amount of memory or disk: a whole number, alone or with Ki, Mi or Gi.
type Bytes int64

// UnmarshalJSON reads a JSON number, or a string with a unit.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	v, err := parseBytes(strings.Trim(string(data), `"`))
	*b = v
	return err
}

func parseBytes(s string) (Bytes, error) {
	digits, shift := s, 0
	for i, unit := range []string{"Ki", "Mi", "Gi"} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			digits, shift = number, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("%q is no number of bytes such as 1048576 or 64Mi", s)
	}
	return Bytes(n << shift), nil
}

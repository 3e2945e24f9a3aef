package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// A Duration is written as Go writes it, "1m30s", in the file and in flags. One type serves flags (Set,
// Type) and the file (UnmarshalJSON), so both read the same form.
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

// String is the written form.
func (b Bytes) String() string { return strconv.FormatInt(int64(b), 10) }

// Set reads the written form.
func (b *Bytes) Set(s string) (err error) {
	*b, err = parseBytes(s)
	return err
}

// Type names the value in help texts.
func (b *Bytes) Type() string { return "bytes" }

// UnmarshalJSON reads a JSON number, or a string with a unit. YAML makes a number of 1048576 and a text of
// 64Mi.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	v, err := parseBytes(strings.Trim(string(data), `"`))
	*b = v
	return err
}

// parseBytes parses a quantity that is a whole number of bytes below 2^63-1, which larger binary amounts become.
func parseBytes(s string) (Bytes, error) {
	q, err := quantity.Read(s)
	if err == nil && q.Sign() >= 0 {
		if n, exact := q.Multiple(0); exact && n.IsInt64() && n.Int64() < math.MaxInt64 {
			return Bytes(n.Int64()), nil
		}
	}
	return 0, fmt.Errorf("%q is no number of bytes such as 1048576 or 64Mi", s)
}

// Switches are names that are on or off: "a=true,b=false" in flags, an object in the file. Flags add up:
// each one that is given again adds to the ones before, unlike with lists.
type Switches map[string]bool

// String is the written form, in the order of the names.
func (s Switches) String() string {
	parts := make([]string, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, name+"="+strconv.FormatBool(s[name]))
	}
	return strings.Join(parts, ",")
}

// Set adds the switches of the written form; a name without a value is on.
func (s *Switches) Set(text string) error {
	all := maps.Clone(*s)
	if all == nil {
		all = Switches{}
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, given := strings.Cut(strings.TrimSpace(part), "=")
		if name == "" {
			continue
		}
		on, err := strconv.ParseBool(value)
		if err != nil && given {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		all[name] = on || !given
	}
	*s = all
	return nil
}

// Type names the value in help texts.
func (s *Switches) Type() string { return "name=bool,..." }

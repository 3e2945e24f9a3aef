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

// A Duration is a time.Duration in Go's notation, such as "1m30s", in flags and the configuration
// file.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

func (d *Duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 90s or 5m", s)
	}
	*d = Duration(v)
	return nil
}

func (d *Duration) Type() string { return "duration" }

func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return fmt.Errorf("%s is not a duration such as 90s or 5m", data)
	}
	return d.Set(s)
}

// Bytes is an amount of memory or disk space, written as an integer with an optional suffix such as
// Ki, Mi or Gi.
type Bytes int64

func (b Bytes) String() string { return strconv.FormatInt(int64(b), 10) }

func (b *Bytes) Set(s string) (err error) {
	*b, err = parseBytes(s)
	return err
}

func (b *Bytes) Type() string { return "bytes" }

// UnmarshalJSON accepts a number, or a string with a suffix.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	v, err := parseBytes(strings.Trim(string(data), `"`))
	*b = v
	return err
}

// parseBytes parses a non-negative integer quantity below 2^63-1. It rejects 2^63-1 itself, because
// package quantity returns that for all larger quantities.
func parseBytes(s string) (Bytes, error) {
	q, err := quantity.Read(s)
	if err == nil && q.Sign() >= 0 {
		if n, exact := q.Multiple(0); exact && n.IsInt64() && n.Int64() < math.MaxInt64 {
			return Bytes(n.Int64()), nil
		}
	}
	return 0, fmt.Errorf("%q is not a size such as 1048576 or 64Mi", s)
}

// Switches maps names to on or off: "a=true,b=false" in flags, or an object in the file. Repeated
// flags are merged.
type Switches map[string]bool

// String returns s in flag notation, ordered by name.
func (s Switches) String() string {
	parts := make([]string, 0, len(s))
	for _, name := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, name+"="+strconv.FormatBool(s[name]))
	}
	return strings.Join(parts, ",")
}

// Set merges text into s. A name without a value means true.
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
			return fmt.Errorf("%q is not true or false", value)
		}
		all[name] = on || !given
	}
	*s = all
	return nil
}

func (s *Switches) Type() string { return "name=bool,..." }

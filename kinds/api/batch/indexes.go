package batch

import (
	"fmt"
	"strconv"
	"strings"
)

// countIndexes parses ascending indexes below completions, such as "1,3-5,7", and returns their
// count, here 5. Error messages match Kubernetes. It builds no list, because a status may have many
// thousands of indexes.
func countIndexes(text string, completions int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	total, last := int64(0), int64(-1)
	for part := range strings.SplitSeq(text, ",") {
		from, to, err := readInterval(part, completions)
		if err != nil {
			return 0, err
		}
		if total > 0 && last >= from {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, from)
		}
		total += to - from + 1
		last = to
	}
	return total, nil
}

// readInterval parses one index or a range of indexes. A range must have at least two indexes:
// "3-3" is an error.
func readInterval(text string, completions int64) (from, to int64, err error) {
	low, high, several := strings.Cut(text, "-")
	if strings.Contains(high, "-") {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	if from, err = readIndex(low, completions); err != nil || !several {
		return from, from, err
	}
	if to, err = readIndex(high, completions); err != nil {
		return 0, 0, err
	}
	if from >= to {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", from, to)
	}
	return from, to, nil
}

func readIndex(text string, completions int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if n >= completions {
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return n, nil
}

type interval struct{ from, to int64 }

func intervals(text string, completions int64) []interval {
	var all []interval
	for part := range strings.SplitSeq(text, ",") {
		if from, to, err := readInterval(part, completions); err == nil {
			all = append(all, interval{from, to})
		}
	}
	return all
}

// commonIndex returns the first index in both a and b, if any. Both must be sorted.
func commonIndex(a, b string, completions int64) (int64, bool) {
	x, y := intervals(a, completions), intervals(b, completions)
	for len(x) > 0 && len(y) > 0 {
		if x[0].from <= y[0].to && y[0].from <= x[0].to {
			return max(x[0].from, y[0].from), true
		}
		if x[0].from <= y[0].from {
			x = x[1:]
		} else {
			y = y[1:]
		}
	}
	return 0, false
}

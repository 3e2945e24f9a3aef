package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Faults gathers the causes of one validation.
type Faults struct {
	List     []meta.Cause
	Warnings []string
	bytes    int // of their texts
}

// Required reports that path has no value. A detail, if any, follows the text.
func (f *Faults) Required(path string, detail ...string) {
	if f.full() {
		return
	}
	f.add(meta.CauseRequired, path, withDetail("Required value", strings.Join(detail, " ")))
}

// Invalid reports that value may not be at path; msg says why.
func (f *Faults) Invalid(path string, value any, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseInvalid, path, withDetail("Invalid value: "+formatValue(value), msg))
}

// TypeInvalid reports that value, the name of its type, may not be at path; msg says why.
func (f *Faults) TypeInvalid(path, value, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseTypeInvalid, path, withDetail("Invalid value: "+formatValue(value), msg))
}

// Report adds a fault of any type: its text, as the other methods write it, and a detail.
func (f *Faults) Report(t meta.CauseType, path, text, detail string) {
	if f.full() {
		return
	}
	f.add(t, path, withDetail(text, detail))
}

// Add adds a cause that was found elsewhere.
func (f *Faults) Add(c meta.Cause) { f.add(c.Type, c.Field, c.Message) }

// InvalidOmitValue reports that what is at path is invalid as a whole; msg says why. The message does not hold the value.
func (f *Faults) InvalidOmitValue(path, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseInvalid, path, withDetail("Invalid value", msg))
}

// Forbidden reports that nothing may be set, or changed, at path; msg says why.
func (f *Faults) Forbidden(path, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseForbidden, path, withDetail("Forbidden", msg))
}

// Duplicate reports that the value at path must be unique, and is elsewhere too.
func (f *Faults) Duplicate(path string, value any) {
	if f.full() {
		return
	}
	f.add(meta.CauseDuplicate, path, "Duplicate value: "+formatValue(value))
}

// NotSupported reports a value that is none of those supported.
func (f *Faults) NotSupported(path string, value any, supported []string) {
	if f.full() {
		return
	}
	text := "Unsupported value: " + formatValue(value)
	if len(supported) > 0 {
		quoted := make([]string, len(supported))
		for i, s := range supported {
			quoted[i] = strconv.Quote(s)
		}
		text += ": supported values: " + strings.Join(quoted, ", ")
	}
	f.add(meta.CauseNotSupported, path, text)
}

// TooLong reports text or data at path above max bytes.
func (f *Faults) TooLong(path string, max int) {
	f.add(meta.CauseTooLong, path, fmt.Sprintf("Too long: may not be more than %d bytes", max))
}

// TooMany reports a list or map at path of n items, above max.
func (f *Faults) TooMany(path string, n, max int) {
	items := "items"
	if max == 1 {
		items = "item"
	}
	f.add(meta.CauseTooMany, path, fmt.Sprintf("Too many: %d: must have at most %d %s", n, max, items))
}

// NotFound reports a reference at path to something that is not there. A detail, if any, follows the text.
func (f *Faults) NotFound(path string, value any, detail ...string) {
	if f.full() {
		return
	}
	f.add(meta.CauseNotFound, path, withDetail("Not found: "+formatValue(value), strings.Join(detail, " ")))
}

// Warn adds a warning about what is at path; "" if the text says that itself.
func (f *Faults) Warn(path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	f.Warnings = append(f.Warnings, text)
}

// Bounds of what is reported of one object. Nobody reads more.
const (
	maxFaults     = 1000
	maxFaultBytes = 256 << 10
	// maxPathBytes and maxMessageBytes are of one fault: keys of maps are in paths, and values in the details of messages.
	maxPathBytes    = 8 << 10
	maxMessageBytes = 64 << 10
)

// full tells that no more faults are reported. Methods ask before they build a message: to format a large value
// for each of many faults takes time.
func (f *Faults) full() bool { return len(f.List) >= maxFaults || f.bytes >= maxFaultBytes }

func (f *Faults) add(t meta.CauseType, path, msg string) {
	if f.full() {
		return
	}
	path, msg = meta.CutText(path, maxPathBytes), meta.CutText(msg, maxMessageBytes)
	f.bytes += len(path) + len(msg)
	f.List = append(f.List, meta.Cause{Type: t, Message: msg, Field: path})
}

func withDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + detail
}

// formatValue prints a value of a tree as messages do: text quoted, the rest as JSON.
func formatValue(v any) string {
	return meta.CutText(formatFullValue(v), 16<<10)
}

func formatFullValue(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case nil:
		return "null"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	return string(b)
}

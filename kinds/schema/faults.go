package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
)

// Faults collects the causes and warnings of one validation and limits its work.
type Faults struct {
	List     []meta.Cause
	Warnings []string
	Work     Work
	Now      string // in status rules, the current time in tree form
	bytes    int    // total size of List
	muted    bool   // errors are not reported
	failed   bool   // an error occurred, reported or not
	costly   bool   // an exhausted budget was reported
}

// Required reports a missing value at path. The detail is optional.
func (f *Faults) Required(path string, detail ...string) {
	if f.full() {
		return
	}
	f.add(meta.CauseRequired, path, withDetail("Required value", strings.Join(detail, " ")))
}

// Invalid reports an invalid value at path. msg is the reason.
func (f *Faults) Invalid(path string, value any, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseInvalid, path, withDetail("Invalid value: "+formatValue(value), msg))
}

// TypeInvalid reports a value of the wrong type at path. value names that type, and msg is the
// reason.
func (f *Faults) TypeInvalid(path, value, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseTypeInvalid, path, withDetail("Invalid value: "+formatValue(value), msg))
}

// Report adds an error of any type, with a message and a detail.
func (f *Faults) Report(t meta.CauseType, path, text, detail string) {
	if f.full() {
		return
	}
	f.add(t, path, withDetail(text, detail))
}

// Add adds a cause from another validation.
func (f *Faults) Add(c meta.Cause) { f.add(c.Type, c.Field, c.Message) }

// InvalidOmitValue reports an invalid value at path without showing it. msg is the reason.
func (f *Faults) InvalidOmitValue(path, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseInvalid, path, withDetail("Invalid value", msg))
}

// Forbidden reports that path may not be set or changed. msg is the reason.
func (f *Faults) Forbidden(path, msg string) {
	if f.full() {
		return
	}
	f.add(meta.CauseForbidden, path, withDetail("Forbidden", msg))
}

// Duplicate reports that the value at path is not unique.
func (f *Faults) Duplicate(path string, value any) {
	if f.full() {
		return
	}
	f.add(meta.CauseDuplicate, path, "Duplicate value: "+formatValue(value))
}

// NotSupported reports a value at path that is not one of the supported values.
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

// TooLong reports a string or data of more than max bytes at path.
func (f *Faults) TooLong(path string, max int) {
	f.add(meta.CauseTooLong, path, fmt.Sprintf("Too long: may not be more than %d bytes", max))
}

// TooMany reports a list or map at path with n items, which exceeds max.
func (f *Faults) TooMany(path string, n, max int) {
	items := "items"
	if max == 1 {
		items = "item"
	}
	f.add(meta.CauseTooMany, path, fmt.Sprintf("Too many: %d: must have at most %d %s", n, max, items))
}

// NotFound reports that the value at path refers to an object that does not exist. The detail is
// optional.
func (f *Faults) NotFound(path string, value any, detail ...string) {
	if f.full() {
		return
	}
	f.add(meta.CauseNotFound, path, withDetail("Not found: "+formatValue(value), strings.Join(detail, " ")))
}

// Warn adds a warning about path, which must be "" if text already contains it.
func (f *Faults) Warn(path, text string) {
	if path != "" {
		text = path + ": " + text
	}
	f.Warnings = append(f.Warnings, text)
}

// Limits on the number and total size of one object's errors.
const (
	maxFaults     = 1000
	maxFaultBytes = 256 << 10
	// maxPathBytes and maxMessageBytes limit a single error, because paths contain map keys and
	// messages contain values.
	maxPathBytes    = 8 << 10
	maxMessageBytes = 64 << 10
)

func (f *Faults) omits() bool {
	return f.muted || f.Work.err != nil || len(f.List) >= maxFaults || f.bytes >= maxFaultBytes
}

// full records that an error occurred, and reports whether it is dropped. Methods call full before
// they format a value, because formatting may be slow.
func (f *Faults) full() bool {
	f.failed = true
	return f.omits()
}

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

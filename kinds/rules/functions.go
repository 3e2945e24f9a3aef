package rules

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/mail"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

var functions = map[string]func(v any) any{
	"has":    func(v any) any { return v != nil },
	"empty":  func(v any) any { return tree.IsEmpty(v) },
	"size":   func(v any) any { return int64(size(v)) },
	"str":    func(v any) any { return text(v) },
	"int":    func(v any) any { return number(v) },
	"string": func(v any) any { return fmt.Sprint(v) },
	// duration returns nanoseconds.
	"duration": func(v any) any { d, _ := time.ParseDuration(text(v)); return int64(d) },
	"quote":    func(v any) any { return strconv.Quote(text(v)) },
	"lower":    func(v any) any { return strings.ToLower(text(v)) },
	"trim":     func(v any) any { return strings.TrimSpace(text(v)) },
	"isIP":     func(v any) any { return len(IP(text(v))) == 0 },
	"isIPv6":   func(v any) any { return address.IsIPv6(text(v)) },
	"isText":   func(v any) any { _, ok := v.(string); return ok },
	"isMap":    func(v any) any { _, ok := v.(tree.Tree); return ok },
	"keys": func(v any) any {
		if set, ok := v.(map[any]any); ok {
			list := slices.Collect(maps.Keys(set))
			slices.SortFunc(list, compare)
			return list
		}
		return tree.ListOf(object(v).SortedKeys())
	},
	"values": func(v any) any {
		set, _ := v.(map[any]any)
		return slices.Collect(maps.Values(set))
	},
	"matchLabels": func(v any) any { return tree.Tree{"matchLabels": v} },
	// valueSize returns the total length of a map's values, and decodedSize their total length
	// after base64 decoding.
	"valueSize":   func(v any) any { return sumOf(v, func(s string) int { return len(s) }) },
	"decodedSize": func(v any) any { return sumOf(v, DecodedSize) },
	"lowerFirst": func(v any) any {
		s := text(v)
		return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):]
	},
	"clean":        func(v any) any { return path.Clean(text(v)) },
	"isNative":     func(v any) any { return isNative(text(v)) },
	"hasFraction":  func(v any) any { return quantity.HasFraction(text(v)) },
	"hasIPHint":    func(v any) any { return ipHint(text(v)) != "" },
	"hasRangeHint": func(v any) any { return len(rangeHints(text(v))) > 0 },
	"isZero":       func(v any) any { return isZero(v) },
	// textSize returns the total length of a map's keys and values.
	"textSize": func(v any) any { return int64(AnnotationsSize(object(v))) },
	// publicKey and certificates describe keys and certificates as trees.
	"publicKey":    publicKey,
	"certificates": certificates,
	"seconds":      func(v any) any { at, _ := time.Parse(time.RFC3339, text(v)); return at.Unix() },
	"isEmail":      func(v any) any { _, err := mail.ParseAddress(text(v)); return err == nil },
	"isSorted":     func(v any) any { return slices.IsSortedFunc(elements(v), compare) },
	// set converts a list to a set with constant-time lookup.
	"set": func(v any) any {
		list := elements(v)
		set := make(map[any]any, len(list))
		for _, element := range list {
			set[element] = true
		}
		return set
	},
}

var functions2 = map[string]func(a, b any) any{
	"startsWith": func(a, b any) any { return strings.HasPrefix(text(a), text(b)) },
	"beginsWith": func(a, b any) any {
		list, start := elements(a), elements(b)
		return len(list) >= len(start) && slices.EqualFunc(list[:len(start)], start, tree.SemanticEqual)
	},
	"endsWith":  func(a, b any) any { return strings.HasSuffix(text(a), text(b)) },
	"contains":  func(a, b any) any { return strings.Contains(text(a), text(b)) },
	"before":    func(a, b any) any { s, _, _ := strings.Cut(text(a), text(b)); return s },
	"after":     func(a, b any) any { _, s, _ := strings.Cut(text(a), text(b)); return s },
	"trimEnd":   func(a, b any) any { return strings.TrimSuffix(text(a), text(b)) },
	"split":     func(a, b any) any { return tree.ListOf(strings.Split(text(a), text(b))) },
	"matches":   func(a, b any) any { return pattern2(text(b)).MatchString(text(a)) },
	"identical": func(a, b any) any { return tree.StrictEqual(a, b) },
	"compare":   func(a, b any) any { return int64(quantity.Compare(text(a), text(b))) },
	"selects":   func(a, b any) any { return SelectorMatches(object(a), object(b)) },
	"indexOf": func(a, b any) any {
		return int64(slices.IndexFunc(elements(a), func(v any) bool { return tree.SemanticEqual(v, b) }))
	},
	"hasSigned": hasSigned,
	"shares":    func(a, b any) any { return a != nil && tree.SameRef(a, b) },
	// is reports whether a string has a format. faults returns the errors as a list, and why as one
	// string.
	"is":     func(a, b any) any { return len(formats[text(b)](text(a))) == 0 },
	"faults": func(a, b any) any { return tree.ListOf(formats[text(b)](text(a))) },
	"why":    func(a, b any) any { return strings.Join(formats[text(b)](text(a)), ",") },
	"join": func(a, b any) any {
		var all []string
		for _, v := range elements(a) {
			all = append(all, fmt.Sprint(v))
		}
		return strings.Join(all, text(b))
	},
	// put adds a key and value, given as a list of two elements, to a set and returns true.
	"put": func(a, b any) any {
		pair := elements(b)
		a.(map[any]any)[pair[0]] = pair[1]
		return true
	},
	// hasRepeats reports whether two objects in a list have the same string in a field.
	"hasRepeats": func(a, b any) any { return hasRepeats(elements(a), text(b)) },
	// sharesKeys and hasPrefix examine the keys of maps.
	"sharesKeys": func(a, b any) any {
		for key := range object(a) {
			if _, ok := b.(tree.Tree)[key]; ok {
				return true
			}
		}
		return false
	},
	"hasPrefix": func(a, b any) any {
		for key := range object(a) {
			if strings.HasPrefix(key, text(b)) {
				return true
			}
		}
		return false
	},
	// repeats reports whether a set already contains an element, and adds the element.
	"repeats": func(a, b any) any {
		set, _ := a.(map[any]any)
		_, again := set[b]
		if set != nil {
			set[b] = true
		}
		return again
	},
	// condition returns the status condition of the given type. isTrue reports whether the status
	// of that condition is True.
	"condition": func(a, b any) any { return tree.FindCondition(object(a), text(b)) },
	"isTrue":    func(a, b any) any { return tree.IsConditionTrue(object(a), text(b)) },
}

var patterns sync.Map

func pattern2(s string) *regexp.Regexp {
	re, ok := patterns.Load(s)
	if !ok {
		re, _ = patterns.LoadOrStore(s, regexp.MustCompile(s))
	}
	return re.(*regexp.Regexp)
}

// SelectorMatches reports whether a label selector matches labels. An absent or invalid selector
// matches nothing.
func SelectorMatches(labelSelector, labels tree.Tree) bool {
	if labelSelector == nil {
		return false
	}
	s, ok := selector.FromLabelSelector(labelSelector)
	return ok && s.Matches(selector.LabelsOf(labels))
}

func object(v any) tree.Tree {
	t, _ := v.(tree.Tree)
	return t
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

func number(v any) int64 {
	n, _ := v.(int64)
	return n
}

func elements(v any) []any {
	list, _ := v.([]any)
	return list
}

// compare orders strings and numbers. An absent value counts as "" or 0.
func compare(a, b any) int {
	x, isText := a.(string)
	y, isTextToo := b.(string)
	if isText || isTextToo {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(number(a), number(b))
}

func plus(a, b any) any {
	if x, ok := a.([]any); ok {
		return slices.Concat(x, elements(b))
	}
	if _, ok := a.(string); ok {
		return text(a) + text(b)
	}
	if x, ok := b.([]any); ok {
		return x
	}
	if _, ok := b.(string); ok {
		return b
	}
	return number(a) + number(b)
}

// contains reports whether a list or set has an element, or a map has a key.
func contains(v, element any) bool {
	s, isText := element.(string)
	switch v := v.(type) {
	case []any:
		if isText && s != "" {
			return slices.ContainsFunc(v, func(have any) bool { return text(have) == s })
		}
		return slices.ContainsFunc(v, func(have any) bool { return tree.SemanticEqual(have, element) })
	case map[any]any:
		_, ok := v[element]
		return ok
	case tree.Tree:
		_, ok := v[s]
		return ok
	}
	return false
}

func entry(v, index any) any {
	switch v := v.(type) {
	case tree.Tree:
		return v[text(index)]
	case map[any]any:
		return v[index]
	case []any:
		if i := number(index); i >= 0 && i < int64(len(v)) {
			return v[i]
		}
	}
	return nil
}

func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case tree.Tree:
		return len(v)
	case map[any]any:
		return len(v)
	}
	return 0
}

func isNative(name string) bool {
	domain, _, ok := strings.Cut(name, "/")
	return !ok || strings.HasSuffix(domain, meta.Platform.Translate("platform.io")) || strings.HasSuffix(domain, meta.Kubernetes.Translate("platform.io"))
}

func isZero(v any) bool {
	percent, isPercent := strings.CutSuffix(text(v), "%")
	n, err := strconv.ParseInt(percent, 10, 32)
	return number(v) == 0 && (!isPercent || err != nil || n == 0)
}

// enoughToIndex is the list length above which an index is faster than comparing all strings.
const enoughToIndex = 16

func hasRepeats(list []any, field string) bool {
	var index map[string]bool
	if len(list) > enoughToIndex {
		index = make(map[string]bool, len(list))
	}
	for i := range list {
		name := object(list[i]).String(field)
		if index == nil && slices.ContainsFunc(list[:i], func(earlier any) bool { return object(earlier).String(field) == name }) || index[name] {
			return true
		}
		if index != nil {
			index[name] = true
		}
	}
	return false
}

func sumOf(v any, size func(s string) int) int64 {
	sum := 0
	switch v := v.(type) {
	case string:
		sum = size(v)
	case tree.Tree:
		for _, v := range v {
			if s, ok := v.(string); ok {
				sum += size(s)
			}
		}
	}
	return int64(sum)
}

// DecodedSize returns the number of bytes that a base64 string encodes.
func DecodedSize(s string) int {
	n := base64.StdEncoding.DecodedLen(len(s))
	for i := len(s); i > 0 && s[i-1] == '='; i-- {
		n--
	}
	return n
}

package api

import (
	"net/url"
	"strings"
	"testing"
)

// A cell is what one cell of the list table answers: items, or a fault.
type listCase struct {
	items   string // names, joined
	exactly bool   // the version of the list is the one asked for
	code    int    // of a fault
	fault   string // its message; for 422 that of the fields
}

const (
	needsVersion = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
	withToken    = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"
	exactZero    = `resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`
	unknownMatch = `resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""`
	tokenVersion = "specifying resource version is not allowed when using continue"
)

// TestListTable: the table of list, each row with its cells for an unset version, for 0,
// for an older one, and for the newest. The collection holds a and b at the older, and c too.
func TestListTable(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	older := s.create(t, configMaps, "b", nil)
	newest := s.create(t, configMaps, "c", nil)
	token := listOf(t, s.get(t, 200, configMaps+"?limit=1")).Metadata.Continue
	versions := []string{"", "0", textConventions(older), textConventions(newest)}
	all, chunk := listCase{items: "a b c"}, listCase{items: "a"}
	past, now := listCase{items: "a b", exactly: true}, listCase{items: "a b c", exactly: true}
	pastChunk, nowChunk := listCase{items: "a", exactly: true}, listCase{items: "a", exactly: true}
	bad := func(texts ...string) listCase { return listCase{code: 422, fault: strings.Join(texts, ", ")} }
	refused := listCase{code: 400, fault: tokenVersion}
	for _, row := range []struct {
		match, limit, token string
		cells               [4]listCase
	}{
		{"", "", "", [4]listCase{all, all, all, all}},
		{"", "1", "", [4]listCase{chunk, chunk, pastChunk, nowChunk}},
		{"", "1", token, [4]listCase{{items: "b"}, {items: "b"}, refused, refused}},
		{"", "", token, [4]listCase{{items: "b c"}, {items: "b c"}, refused, refused}},
		{"Exact", "", "", [4]listCase{bad(needsVersion), bad(exactZero), past, now}},
		{"Exact", "1", "", [4]listCase{bad(needsVersion), bad(exactZero), pastChunk, nowChunk}},
		{"Exact", "1", token, [4]listCase{bad(needsVersion, withToken), bad(withToken, exactZero), bad(withToken), bad(withToken)}},
		{"NotOlderThan", "", "", [4]listCase{bad(needsVersion), all, all, all}},
		{"NotOlderThan", "1", "", [4]listCase{bad(needsVersion), chunk, chunk, chunk}},
		{"NotOlderThan", "1", token, [4]listCase{bad(needsVersion, withToken), bad(withToken), bad(withToken), bad(withToken)}},
		{"Newest", "", "", [4]listCase{bad(needsVersion, unknownMatch), bad(unknownMatch), bad(unknownMatch), bad(unknownMatch)}},
		{"Newest", "1", token, [4]listCase{bad(needsVersion, withToken, unknownMatch), bad(withToken, unknownMatch), bad(withToken, unknownMatch), bad(withToken, unknownMatch)}},
	} {
		for i, want := range row.cells {
			q := url.Values{}
			for name, value := range map[string]string{
				"resourceVersionMatch": row.match, "limit": row.limit, "continue": row.token, "resourceVersion": versions[i],
			} {
				if value != "" {
					q.Set(name, value)
				}
			}
			t.Run(q.Encode(), func(t *testing.T) { s.checkListCase(t, q, want, newest, versions[i]) })
		}
	}
}

func (s *testServer) checkListCase(t *testing.T, q url.Values, want listCase, newest uint64, version string) {
	a := s.get(t, 0, configMaps+"?"+q.Encode())
	if want.code != 0 {
		reason, message := "BadRequest", want.fault
		if want.code == 422 {
			if strings.Count(message, "resourceVersionMatch:") > 1 {
				message = "[" + message + "]"
			}
			reason, message = "Invalid", "ListOptions."+metaName+` "" is invalid: `+message
		}
		wantFault(t, a, want.code, reason, message)
		return
	}
	l := listOf(t, a)
	if l.names() != want.items || l.Kind != "ConfigMapList" {
		t.Errorf("a %s with %q, want %q", l.Kind, l.names(), want.items)
	}
	if want.exactly && l.Metadata.ResourceVersion != version || !want.exactly && l.version() < newest {
		t.Errorf("at version %s, asked for %q", l.Metadata.ResourceVersion, version)
	}
	if more := q.Get("limit") != "" && (l.names() == "a" || l.names() == "b"); more != (l.Metadata.Continue != "") {
		t.Errorf("continue %q", l.Metadata.Continue)
	}
}

// TestListParameters: values that are no values.
func TestListParameters(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	for query, want := range map[string]string{
		"resourceVersion=abc":                            `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
		"resourceVersion=-1":                             `invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax`,
		"resourceVersion=99999999999999999999":           `invalid resource version: resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range`,
		"limit=x":                                        `strconv.ParseInt: parsing "x": invalid syntax`,
		"limit=":                                         `strconv.ParseInt: parsing "": invalid syntax`,
		"timeoutSeconds=1.5":                             `strconv.ParseInt: parsing "1.5": invalid syntax`,
		"labelSelector=a%20b":                            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
		"labelSelector=a,":                               "found '', expected: identifier after ','",
		"labelSelector=a%20in%20(":                       "unable to parse requirement: found '', expected: ',' or ')'",
		"labelSelector=a%3Ex":                            `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
		"fieldSelector=abc":                              "invalid selector: 'abc'; can't understand 'abc'",
		"fieldSelector=data.x%3Dy":                       `"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"`,
		"fieldSelector=metadata.name%3D%5Cx":             `invalid field selector: invalid escape sequence: \x`,
		"continue=%21":                                   "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
		"continue=YWJj":                                  "invalid continue token: continue key is not valid: invalid character 'a' looking for beginning of value",
		"continue=e30":                                   "invalid continue token: continue key is not valid: it holds no version",
		"continue=YWJj&resourceVersion=abc":              tokenVersion,
		"resourceVersion=abc&resourceVersionMatch=Exact": `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
	} {
		t.Run(query, func(t *testing.T) { wantFault(t, s.get(t, 0, configMaps+"?"+query), 400, "BadRequest", want) })
	}
	wantFault(t, s.get(t, 0, configMaps+"?sendInitialEvents=true"), 422, "Invalid",
		"ListOptions."+metaName+` "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`)
	for _, query := range []string{"limit=-1", "limit=0", "foo=bar&foo=", "pretty", "timeoutSeconds=-3", "resourceVersion=", "labelSelector=", "continue=", "watch=0", "watch=false&allowWatchBookmarks=true"} {
		if l := listOf(t, s.get(t, 200, configMaps+"?"+query)); !strings.HasPrefix(l.names(), "a") {
			t.Errorf("%s: %q", query, l.names())
		}
	}
}

// TestGetTable: the table of get.
func TestGetTable(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	first := s.create(t, configMaps, "a", nil)
	newest := s.create(t, configMaps, "b", nil)
	for _, query := range []string{"", "?resourceVersion=", "?resourceVersion=0", "?resourceVersion=" + textConventions(first), "?resourceVersion=" + textConventions(newest)} {
		if got := s.get(t, 200, configMaps+"/a"+query).Object().Version(); got != first {
			t.Errorf("%q: at version %d, not %d", query, got, first)
		}
	}
	wantFault(t, s.get(t, 0, configMaps+"/a?resourceVersion=x"), 400, "BadRequest",
		`invalid resource version: resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`)
	wantFault(t, s.get(t, 0, configMaps+"/z?resourceVersion=0"), 404, "NotFound", `configmaps "z" not found`)
}

// TestFutureVersion: a version that the server does not know is waited for briefly, and then 504. A watch of the state at that
// version has begun by then, and ends with an ERROR event.
func TestFutureVersion(t *testing.T) {
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	t.Run("watch", func(t *testing.T) {
		t.Parallel()
		e, err := s.watch(t, configMaps+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="+futureVersion).Next()
		if message, _ := e.Object["message"].(string); err != nil || brief(e) != "ERROR/504" || e.Object["reason"] != "Timeout" || !strings.HasPrefix(message, "Timeout: Too large resource version: ") {
			t.Errorf("%v, %v", e, err)
		}
	})
	for _, path := range []string{
		configMaps + "/a?resourceVersion=" + futureVersion,
		configMaps + "/z?resourceVersion=" + futureVersion,
		configMaps + "?resourceVersion=" + futureVersion,
		configMaps + "?limit=1&resourceVersion=" + futureVersion,
		configMaps + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + futureVersion,
		configMaps + "?resourceVersionMatch=Exact&resourceVersion=" + futureVersion,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, 504, path)
			f := statusOf(t, a)
			if f.Reason != "Timeout" || !strings.HasPrefix(f.Message, "Timeout: Too large resource version: "+futureVersion+", current: ") {
				t.Errorf("%s %q", f.Reason, f.Message)
			}
			if f.Details == nil || f.Details.RetryAfterSeconds != 1 || a.Header.Get("Retry-After") != "1" || len(f.Details.Causes) != 1 ||
				f.Details.Causes[0].Reason != "ResourceVersionTooLarge" || f.Details.Causes[0].Message != "Too large resource version" {
				t.Errorf("%v, Retry-After %q", a, a.Header.Get("Retry-After"))
			}
		})
	}
}

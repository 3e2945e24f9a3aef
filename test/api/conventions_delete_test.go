package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// withFinalizer is a ConfigMap that a finalizer holds.
const withFinalizer = `{"metadata":{"name":%q,"finalizers":["e.com/x"]}}`

// withoutCollector leaves alone what waits for the garbage collector.
func withoutCollector(c *daemon.Config) { c.Controllers += ",-garbage-collector-controller" }

// deletePath deletes by a path and body, and gives the answer.
func (s *testServer) deletePath(t testing.TB, code int, path, contentType string, body any) client.Answer {
	t.Helper()
	return s.send(t, code, http.MethodDelete, path, contentType, body)
}

// options is the Protobuf form of DeleteOptions with a policy and a precondition.
func options(policy, uid string) []byte {
	raw := protowire.AppendTag(nil, 2, protowire.BytesType)
	raw = protowire.AppendBytes(raw, protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), uid))
	raw = protowire.AppendString(protowire.AppendTag(raw, 4, protowire.BytesType), policy)
	head := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "v1")
	head = protowire.AppendString(protowire.AppendTag(head, 2, protowire.BytesType), "DeleteOptions")
	body := protowire.AppendBytes(protowire.AppendTag([]byte("k8s\x00"), 1, protowire.BytesType), head)
	return protowire.AppendBytes(protowire.AppendTag(body, 2, protowire.BytesType), raw)
}

// A success is what a delete answers when the object has gone.
type deleteStatus struct {
	Status  string
	Details struct{ Name, Group, Kind, UID string }
}

func successOf(t testing.TB, a client.Answer) (s deleteStatus) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &s); err != nil || a.Object()["kind"] != "Status" {
		t.Errorf("no Status: %v (%v)", a, err)
	}
	return s
}

// TestDeletePolicy: a propagation policy in body or query, in its old or its new form.
func TestDeletePolicy(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, withoutCollector)
	for i, c := range []struct {
		query, contentType string
		body               any
		finalizers         string // of what is left; "" if nothing is
	}{
		{"", "", nil, ""},
		{"", client.JSON, `{}`, ""},
		{"", client.JSON, `{"kind":"DeleteOptions","apiVersion":"v1"}`, ""},
		{"", client.JSON, `{"kind":"DeleteOptions","apiVersion":"meta.platform.io/v1","gracePeriodSeconds":0,"unknown":1}`, ""},
		{"", client.JSON, `{"propagationPolicy":"Background"}`, ""},
		{"", client.JSON, `{"propagationPolicy":"Foreground"}`, "foregroundDeletion"},
		{"", client.JSON, `{"propagationPolicy":"Orphan"}`, "orphan"},
		{"", client.JSON, `{"orphanDependents":true}`, "orphan"},
		{"", client.JSON, `{"orphanDependents":false}`, ""},
		{"", client.JSON, `{"propagationPolicy":null}`, ""},
		{"", typeYAML, "propagationPolicy: Orphan\nunknown: 1\n", "orphan"},
		{"", typeProtobuf, "Foreground", "foregroundDeletion"},
		{"?propagationPolicy=Foreground", "", nil, "foregroundDeletion"},
		{"?propagationPolicy=Orphan&gracePeriodSeconds=5", "", nil, "orphan"},
		{"?orphanDependents=true", "", nil, "orphan"},
		{"?orphanDependents=", "", nil, "orphan"},
		{"?orphanDependents=0", "", nil, ""},
		{"?propagationPolicy=Orphan", client.JSON, `{}`, ""}, // a body leaves no say to the query
		{"?orphanDependents=true", client.JSON, `{"propagationPolicy":"Foreground"}`, "foregroundDeletion"},
	} {
		t.Run(fmt.Sprint(c.query, " ", c.body), func(t *testing.T) {
			name := fmt.Sprint("p", i)
			uid := s.send(t, 201, http.MethodPost, configMaps, client.JSON, client.ConfigMap(name, nil, nil)).Object().UID()
			body := c.body
			if c.contentType == typeProtobuf {
				body = options(c.body.(string), uid)
			}
			a := s.deletePath(t, 200, configMaps+"/"+name+c.query, c.contentType, body)
			if c.finalizers == "" {
				st := successOf(t, a)
				if st.Status != "Success" || st.Details.Name != name || st.Details.Kind != "configmaps" || st.Details.UID != uid {
					t.Errorf("answer %v", a)
				}
				s.get(t, 404, configMaps+"/"+name)
				return
			}
			left := a.Object()
			if got := fmt.Sprint(left.Metadata()["finalizers"]); got != "["+c.finalizers+"]" || left.Metadata()["deletionTimestamp"] == nil {
				t.Errorf("answer %v", a)
			}
			s.get(t, 200, configMaps+"/"+name)
		})
	}
}

// TestDeleteOptionsFaults: options that are none, with their words.
func TestDeleteOptionsFaults(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	s.create(t, configMaps, "a", nil)
	const both = `propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`
	const unknown = `propagationPolicy: Unsupported value: %q: supported values: "Foreground", "Background", "Orphan", "nil"`
	const ignore = "ignoreStoreReadErrorWithClusterBreakingPotential"
	together := func(other string) string {
		return ignore + ": Invalid value: true: cannot be set together with ." + other
	}
	invalid := func(text string) string { return `DeleteOptions.` + metaName + ` "" is invalid: ` + text }
	for _, c := range []struct {
		query, contentType, body string
		code                     int
		message                  string
	}{
		{"", client.JSON, `{"propagationPolicy":"Orphan","orphanDependents":false}`, 422, invalid(both)},
		{"?propagationPolicy=Orphan&orphanDependents=true", "", "", 422, invalid(both)},
		{"", client.JSON, `{"propagationPolicy":"orphan"}`, 422, invalid(fmt.Sprintf(unknown, "orphan"))},
		{"?propagationPolicy=", "", "", 422, invalid(fmt.Sprintf(unknown, ""))},
		{"", client.JSON, `{"propagationPolicy":"x","dryRun":["y"]}`, 422, invalid("[" + fmt.Sprintf(unknown, "x") + `, dryRun: Unsupported value: ["y"]: supported values: "All"]`)},
		{"?gracePeriodSeconds=x", "", "", 400, `strconv.ParseInt: parsing "x": invalid syntax`},
		{"", client.JSON, `{"dryRun"`, 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		{"", client.JSON, `{"kind":"Pod","apiVersion":"v1"}`, 400, `the object provided is unrecognized (must be of type DeleteOptions): kind "Pod"`},
		{"", "text/plain", `{}`, 415, "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.platform.protobuf"},
		{"", client.JSON, `{"preconditions":{"uid":"u"}}`, 409, ""},
		{"", client.JSON, `{"preconditions":{"resourceVersion":"1"}}`, 409, ""},
		{"", client.JSON, `{"` + ignore + `":true,"dryRun":["All"],"gracePeriodSeconds":1}`, 422, invalid("[" + together("dryRun") + ", " + together("gracePeriodSeconds") + "]")},
		{"?propagationPolicy=Orphan&" + ignore + "=true", "", "", 422, invalid(together("propagationPolicy"))},
		{"?" + ignore + "=true", "", "", 422, `configmaps "a" is invalid: ` + ignore + ": Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option"},
	} {
		t.Run(c.query+c.body, func(t *testing.T) {
			var body any
			if c.body != "" {
				body = c.body
			}
			a := s.deletePath(t, c.code, configMaps+"/a"+c.query, c.contentType, body)
			if st := statusOf(t, a); c.message != "" && st.Message != c.message || st.Status != "Failure" {
				t.Errorf("got  %q\nwant %q", st.Message, c.message)
			}
			s.get(t, 200, configMaps+"/a")
		})
	}
	a := s.deletePath(t, 422, configMaps, client.JSON, `{"`+ignore+`":true}`)
	if st := statusOf(t, a); !strings.HasSuffix(st.Message, "is not allowed with DELETECOLLECTION, try again after removing the option") {
		t.Error(st.Message)
	}
}

// TestDeletePreconditions: a delete of another life or of another state is a conflict.
func TestDeletePreconditions(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	first := s.send(t, 201, http.MethodPost, configMaps, client.JSON, client.ConfigMap("a", nil, nil)).Object()
	second := s.send(t, 200, http.MethodPatch, configMaps+"/a", client.MergePatch, `{"data":{"x":"1"}}`).Object()
	refuse := func(body, message string) {
		t.Helper()
		wantFault(t, s.deletePath(t, 0, configMaps+"/a", client.JSON, body), 409, "Conflict", `Operation cannot be fulfilled on ConfigMap "a": `+message)
	}
	refuse(`{"preconditions":{"uid":"another"}}`, "the UID in the precondition (another) does not match the UID in record ("+first.UID()+"). The object might have been deleted and then recreated")
	refuse(fmt.Sprintf(`{"preconditions":{"resourceVersion":"%d"}}`, first.Version()),
		fmt.Sprintf("the ResourceVersion in the precondition (%d) does not match the ResourceVersion in record (%d). The object might have been modified", first.Version(), second.Version()))
	refuse(`{"preconditions":{"uid":""}}`, "the UID in the precondition () does not match the UID in record ("+first.UID()+"). The object might have been deleted and then recreated")
	refuse(`{"preconditions":{"resourceVersion":""}}`,
		fmt.Sprintf("the ResourceVersion in the precondition () does not match the ResourceVersion in record (%d). The object might have been modified", second.Version()))
	s.deletePath(t, 409, configMaps+"/a", "application/vnd.platform.protobuf", options("Background", ""))
	s.deletePath(t, 200, configMaps+"/a", client.JSON, fmt.Sprintf(`{"preconditions":{"uid":%q,"resourceVersion":"%d"}}`, first.UID(), second.Version()))
	s.get(t, 404, configMaps+"/a")
}

// TestDeletePreconditionsInQuery: without a body they count in the query, where empty ones are none.
func TestDeletePreconditionsInQuery(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, nil)
	const crds = "/apis/apiextensions.platform.io/v1/customresourcedefinitions"
	s.send(t, 201, http.MethodPost, "/api/v1/namespaces", client.JSON, `{"metadata":{"name":"n"}}`)
	s.send(t, 201, http.MethodPost, crds, client.JSON, `{"metadata":{"name":"as.e.com"},"spec":{"group":"e.com","scope":"Cluster","names":{"plural":"as","kind":"A"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	s.create(t, configMaps, "b", nil)
	for path, message := range map[string]string{
		configMaps + "/a":             `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (wrong) does not match the UID in record (UID). The object might have been deleted and then recreated`,
		"/api/v1/namespaces/n":        `Operation cannot be fulfilled on namespaces "n": Precondition failed: UID in precondition: wrong, UID in object meta: UID`,
		crds + "/as.e.com":            `Operation cannot be fulfilled on customresourcedefinitions.apiextensions.platform.io "as.e.com": Precondition failed: UID in precondition: wrong, UID in object meta: UID`,
		configMaps + "?labelSelector": "",
	} {
		if path == configMaps+"/a" {
			s.create(t, configMaps, "a", nil)
		}
		before := s.get(t, 200, path)
		uid := before.Object().UID()
		join := "?"
		if message == "" {
			join = "&"
		}
		for _, query := range []string{"uid=wrong", "resourceVersion=1", "uid=" + uid + "&resourceVersion=1", "uid=wrong&dryRun=All"} {
			a := s.deletePath(t, 409, path+join+query, "", nil)
			if f := statusOf(t, a); query == "uid=wrong" && message != "" && f.Message != strings.ReplaceAll(message, "UID)", uid+")") && f.Message != strings.TrimSuffix(message, "UID")+uid {
				t.Errorf("%s?%s: %s", path, query, f.Message)
			}
		}
		if message == "" {
			continue
		}
		if after := s.get(t, 200, path); after.Object().Metadata()["deletionTimestamp"] != nil {
			t.Errorf("%s is deleted", path)
		}
		s.deletePath(t, 200, path+"?uid=wrong", client.JSON, `{}`) // a body leaves no say to the query
	}
	s.create(t, configMaps, "c", nil)
	uid := s.get(t, 200, configMaps+"/c").Object().UID()
	s.deletePath(t, 200, configMaps+"/c?resourceVersion=&uid="+uid, "", nil)
	s.create(t, configMaps, "c", nil)
	s.deletePath(t, 200, configMaps+"/c?uid=", "", nil)
	if left := listOf(t, s.get(t, 200, configMaps)).names(); left != "b" {
		t.Errorf("left: %q", left)
	}
}

// TestFinalizers: the states and transitions of a deletion.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, withoutCollector)
	w := s.watch(t, configMaps+"?resourceVersion="+textConventions(s.version(t)))
	s.send(t, 201, http.MethodPost, configMaps, client.JSON, `{"metadata":{"name":"a","finalizers":["e.com/x","e.com/y"]}}`)
	going := s.deletePath(t, 200, configMaps+"/a", "", nil).Object()
	if at, ok := going.Metadata()["deletionTimestamp"].(string); !ok || going.Metadata()["deletionGracePeriodSeconds"] != 0.0 {
		t.Errorf("not on its way out: %v %s", going, at)
	}
	again := s.deletePath(t, 200, configMaps+"/a", "", nil).Object()
	if again.Version() != going.Version() {
		t.Errorf("a second delete changes it: %v", again)
	}
	a := s.send(t, 422, http.MethodPatch, configMaps+"/a", client.MergePatch, `{"metadata":{"finalizers":["e.com/x","e.com/y","e.com/z"]}}`)
	if st := statusOf(t, a); !strings.Contains(st.Message, "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted") {
		t.Error(st.Message)
	}
	one := s.send(t, 200, http.MethodPatch, configMaps+"/a", client.MergePatch, `{"metadata":{"finalizers":["e.com/y"]}}`).Object()
	if one.Metadata()["deletionTimestamp"] != going.Metadata()["deletionTimestamp"] {
		t.Errorf("its time has changed: %v", one)
	}
	last := s.send(t, 200, http.MethodPatch, configMaps+"/a", client.MergePatch, `{"metadata":{"finalizers":null}}`).Object()
	if last.Name() != "a" {
		t.Errorf("the answer to the last write: %v", last)
	}
	s.get(t, 404, configMaps+"/a")
	nextConventions(t, w, "ADDED/a MODIFIED/a MODIFIED/a DELETED/a")
}

// TestDeleteCollection: what is selected goes, in chunks if asked, by the options.
func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	s := serveConventions(t, withoutCollector)
	left := func() string { t.Helper(); return listOf(t, s.get(t, 200, configMaps)).names() }
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		s.create(t, configMaps, name, map[string]string{"name": name, "odd": fmt.Sprint(strings.Contains("ace", name))})
	}
	s.send(t, 201, http.MethodPost, configMaps, client.JSON, fmt.Sprintf(withFinalizer, "h"))
	for _, c := range []struct {
		query, body, left string
	}{
		{"?labelSelector=name%3Da", "", "b c d e h"},
		{"?fieldSelector=metadata.name%3Db", "", "c d e h"},
		{"?limit=1", "", "d e h"},
		{"?labelSelector=odd%3Dfalse", `{"propagationPolicy":"Orphan"}`, "d e h"},
		{"?labelSelector=odd%3Dtrue&dryRun=All", "", "d e h"},
		{"", `{"dryRun":["All"]}`, "d e h"},
		{"", "", "d h"},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		a := s.deletePath(t, 200, configMaps+c.query, client.JSON, body)
		if st := successOf(t, a); st.Status != "Success" || st.Details.Kind != "configmaps" {
			t.Errorf("%s: %v", c.query, a)
		}
		if got := left(); got != c.left {
			t.Errorf("%s %s: %q is left, want %q", c.query, c.body, got, c.left)
		}
	}
	s.deletePath(t, 409, configMaps, client.JSON, `{"preconditions":{"uid":"another"}}`)
	s.deletePath(t, 409, configMaps, client.JSON, `{"preconditions":{"uid":""}}`)
	s.deletePath(t, 405, "/api/v1/configmaps", "", nil)
	s.deletePath(t, 400, configMaps+"?labelSelector=a%20b", "", nil)
	s.deletePath(t, 422, configMaps+"?resourceVersionMatch=Exact", "", nil)
}

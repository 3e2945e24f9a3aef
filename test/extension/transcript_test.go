package extension

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/transcript"
)

// runTranscripts plays each transcript in a directory against a new server. change may be nil.
// Transcripts control a webhook server as described in script.
func runTranscripts(t *testing.T, folder, profile string, change func(*daemon.Config)) {
	t.Helper()
	if *transcript.Update && profile != client.Profiles[0] {
		t.Skip("transcripts are recorded with platform names")
	}
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d transcripts, %v", folder, len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			s := client.Open(t, func(c *daemon.Config) {
				c.Naming = profile
				if change != nil {
					change(c)
				}
			})
			transcript.Run(t, s.First(t).Client, file, transcript.Options{Profile: profile, Variables: startScript(t)})
		})
	}
}

// A script is a transcript's webhook server. Its URL is {url} and its CA is {bundle}. Each path is
// a separate webhook. PUT {hook}/PATH sets the response of a path, and GET {hook}/PATH returns the
// reviews received since the last GET. A response is a JSON object:
//
//	{"allowed":false}        the response of an AdmissionReview; a patch may be plain JSON
//	{"append":"x"}           a patch that appends a text to the object's data.s
//	{"edit":[…]}             a JSON patch of convertRoutes' valid ConversionReview
//	{"code":500,"body":""}   an HTTP response; the review's UID and VERSION are substituted
//	{"abort":true}           no response
//
// <<N TEXT>> repeats TEXT as described at repetition.
type script struct {
	mu      sync.Mutex
	answers map[string]map[string]any
	asked   map[string][]any
}

func startScript(t *testing.T) map[string]string {
	s := &script{answers: map[string]map[string]any{}, asked: map[string][]any{}}
	h := startWebhooks(t, s.review)
	control := httptest.NewServer(http.HandlerFunc(s.control))
	t.Cleanup(control.Close)
	return map[string]string{"hook": control.URL, "url": h.URL, "bundle": h.bundle}
}

func (s *script) control(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPut {
		var answer map[string]any
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal([]byte(repeated(string(body))), &answer)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.answers[r.URL.Path] = answer
		return
	}
	w.Header().Set("Content-Type", client.JSON)
	_ = json.NewEncoder(w).Encode(append([]any{}, s.asked[r.URL.Path]...))
	s.asked[r.URL.Path] = nil
}

// review responds to a review as the script specifies. By default, it allows admission requests and
// converts objects.
func (s *script) review(q question, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	answer := s.answers[r.URL.Path]
	if !q.isServers() {
		asked := maps.Clone(q.review)
		asked["proto"], asked["query"], asked["contentType"] = q.proto, q.query, q.header.Get("Content-Type")
		s.asked[r.URL.Path] = append(s.asked[r.URL.Path], asked)
	}
	s.mu.Unlock()
	body, isText := answer["body"].(string)
	code, _ := answer["code"].(float64)
	switch {
	case answer["abort"] == true:
		panic(http.ErrAbortHandler)
	case isText:
		if code > 0 {
			w.WriteHeader(int(code))
		}
		version, _ := q.review["apiVersion"].(string)
		fmt.Fprint(w, strings.NewReplacer("UID", q.text("uid"), "VERSION", version).Replace(body))
	case q.review["kind"] == "ConversionReview":
		w.Header().Set("Content-Type", client.JSON)
		_, _ = w.Write(editedConversion(q.review, answer["edit"]))
	case answer["append"] != nil:
		appends(answer["append"].(string))(q, w, r)
	case answer == nil:
		allow(q, w, r)
	default:
		writeWebhooks(w, q, responseMembers(answer))
	}
}

// responseMembers returns an admission response as JSON without the outer braces.
func responseMembers(answer map[string]any) string {
	if patch, isPlain := answer["patch"].([]any); isPlain {
		answer = map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(asJSON(patch)))}
	}
	text := asJSON(answer)
	return text[1 : len(text)-1]
}

// editedConversion applies a JSON patch to the valid response to a ConversionReview.
func editedConversion(asked webhookObject, edit any) []byte {
	var r review
	_ = json.Unmarshal([]byte(asJSON(asked)), &r)
	text := []byte(asJSON(converted(r)))
	if edit == nil {
		return text
	}
	patch, err := jsonpatch.DecodePatch([]byte(asJSON(edit)))
	if err == nil {
		text, err = patch.Apply(text)
	}
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

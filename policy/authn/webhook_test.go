package authn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
)

const janeStatus = `{"authenticated":true,"user":{"username":"jane","uid":"u1","groups":["dev"],"extra":{"k":["v","w"]}}}`

type fakeWebhook struct {
	version     string // of its responses
	status      string
	err         error
	requests    atomic.Int64
	lastRequest atomic.Value // the last request body
}

func (j *fakeWebhook) ask(_ context.Context, question []byte) ([]byte, error) {
	j.requests.Add(1)
	j.lastRequest.Store(string(question))
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":"TokenReview","status":%s}`, j.version, j.status), j.err
}

func newWebhook(j *fakeWebhook, clock *time.Time, audiences ...string) authn.Authenticator {
	return authn.Webhook(authn.WebhookOptions{
		Ask: j.ask, Naming: meta.Platform, Version: "v1", TTL: time.Minute, Audiences: audiences,
		Now: func() time.Time { return *clock },
	})
}

func bearer(token string, audiences ...string) authn.Request {
	return authn.Request{Token: token, HasToken: true, Audiences: audiences}
}

func TestWebhookResponses(t *testing.T) {
	const v1 = "authentication.platform.io/v1"
	jane := authn.User{Name: "jane", UID: "u1", Groups: []string{"dev"}, Extra: map[string][]string{"k": {"v", "w"}}}
	with := func(audiences ...string) *authn.User {
		user := jane
		user.Audiences = audiences
		return &user
	}
	tests := []struct {
		name            string
		version, status string
		asked           []string // requested audiences
		want            *authn.User
		fault           string // "" for none
	}{
		{"good", v1, janeStatus, nil, with("here"), ""},
		{"for this server among others", v1, strings.Replace(janeStatus, "true", `true,"audiences":["there","here"]`, 1), nil, with("here"), ""},
		{"for others", v1, strings.Replace(janeStatus, "true", `true,"audiences":["there"]`, 1), nil, nil, ""},
		{"for what was asked", v1, strings.Replace(janeStatus, "true", `true,"audiences":["there"]`, 1), []string{"there", "far"}, with("there"), ""},
		{"for the server, but others were asked", v1, janeStatus, []string{"there"}, nil, ""},
		{"not known", v1, `{"authenticated":false}`, nil, nil, ""},
		{"no status", v1, `null`, nil, nil, ""},
		{"refused", v1, `{"error":"locked out"}`, nil, nil, `refused: "locked out"`},
		{"an error beside success is ignored", v1, strings.Replace(janeStatus, "true", `true,"error":"x"`, 1), nil, with("here"), ""},
		{"an error that holds the token", v1, `{"error":"bad token the-token"}`, nil, nil, "unknown bearer token"},
		{"no user name", v1, `{"authenticated":true,"user":{"groups":["system:masters"]}}`, nil, nil, "has no user name"},
		{"another version", "authentication.platform.io/v1beta1", janeStatus, nil, nil, "not a TokenReview of authentication.platform.io/v1"},
		{"another case", v1, strings.Replace(janeStatus, "authenticated", "Authenticated", 1), nil, nil, ""},
	}
	for _, test := range tests {
		user, err := newWebhook(&fakeWebhook{version: test.version, status: test.status}, &now, "here").Authenticate(bearer("the-token", test.asked...))
		if !reflect.DeepEqual(withoutExpiry(user), test.want) {
			t.Errorf("%s: got %v, want %v", test.name, user, test.want)
		}
		if (err == nil) != (test.fault == "") || err != nil && (!strings.Contains(err.Error(), test.fault) || strings.Contains(err.Error(), "the-token")) {
			t.Errorf("%s: got error %v, want %q", test.name, err, test.fault)
		}
	}
}

func TestWebhookRejectionMessage(t *testing.T) {
	j := &fakeWebhook{version: "authentication.platform.io/v1", status: `{"error":"` + strings.Repeat("ä", 2000) + `"}`}
	_, err := authn.Union(stubAuthenticator{}, newWebhook(j, &now), stubAuthenticator{nil, errors.New("another")}).Authenticate(bearer("t"))
	var refusal *authn.RejectionError
	if !errors.As(err, &refusal) || len(refusal.Message) > 1100 || !strings.HasPrefix(refusal.Message, "ää") {
		t.Errorf("got %v", err)
	}
}

func TestWebhookRequest(t *testing.T) {
	j := &fakeWebhook{version: "authentication.platform.io/v1", status: `{}`}
	a := newWebhook(j, &now, "here")
	for _, audiences := range [][]string{nil, {"there"}} {
		if _, err := a.Authenticate(bearer(`a"b`, audiences...)); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"apiVersion": "authentication.platform.io/v1", "kind": "TokenReview", "spec": map[string]any{"token": `a"b`, "audiences": []any{"here"}}}
		if audiences != nil {
			want["spec"].(map[string]any)["audiences"] = []any{"there"}
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(j.lastRequest.Load().(string)), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
	}
	if _, err := a.Authenticate(authn.Request{HasToken: true}); err != nil || j.requests.Load() != 2 {
		t.Errorf("no token: %v, %d questions", err, j.requests.Load())
	}
}

func TestWebhookCache(t *testing.T) {
	for _, test := range []struct {
		name, status string
		err          error
		after        time.Duration
		questions    int64 // number of webhook calls for two requests
	}{
		{"a user", janeStatus, nil, time.Minute - 1, 1},
		{"a user, later", janeStatus, nil, time.Minute, 2},
		{"no user", `{}`, nil, time.Minute - 1, 1},
		{"no user, later", `{}`, nil, time.Minute, 2},
		{"an error", `{"error":"x"}`, nil, 10*time.Second - 1, 1},
		{"an error, later", `{"error":"x"}`, nil, 10 * time.Second, 2},
		{"no answer", `{}`, errors.New("dead"), 0, 2},
		{"a bad answer", `{`, nil, 0, 2},
	} {
		clock := now
		j := &fakeWebhook{version: "authentication.platform.io/v1", status: test.status, err: test.err}
		a := newWebhook(j, &clock, "here")
		first, fault := a.Authenticate(bearer("t"))
		clock = clock.Add(test.after)
		second, again := a.Authenticate(bearer("t"))
		if !reflect.DeepEqual(withoutExpiry(first), withoutExpiry(second)) || fmt.Sprint(fault) != fmt.Sprint(again) {
			t.Errorf("%s: %v, %v, then %v, %v", test.name, first, fault, second, again)
		}
		if j.requests.Load() != test.questions {
			t.Errorf("%s: %d questions, want %d", test.name, j.requests.Load(), test.questions)
		}
		if _, err := a.Authenticate(bearer("t", "there")); j.requests.Load() != test.questions+1 {
			t.Errorf("%s: no question of its own for other audiences: %v", test.name, err)
		}
	}
}

func TestWebhookSingleFlight(t *testing.T) {
	begun, release := make(chan string, 32), make(chan struct{})
	var asked []string
	var mu sync.Mutex
	a := authn.Webhook(authn.WebhookOptions{
		Naming: meta.Platform, Version: "v1", TTL: time.Minute, Now: func() time.Time { return now },
		Ask: func(ctx context.Context, question []byte) ([]byte, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the question is not bounded in time")
			}
			token := string(question)
			mu.Lock()
			asked = append(asked, token)
			mu.Unlock()
			begun <- token
			if strings.Contains(token, "slow") {
				<-release
			}
			return []byte(`{"apiVersion":"authentication.platform.io/v1","kind":"TokenReview","status":` + janeStatus + `}`), nil
		},
	})
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if user, err := a.Authenticate(bearer("slow")); user == nil {
				t.Errorf("slow: %v", err)
			}
		})
	}
	<-begun
	if user, err := a.Authenticate(bearer("quick")); user == nil {
		t.Errorf("quick: %v", err)
	}
	close(release)
	waiting.Wait()
	slow := slices.DeleteFunc(slices.Clone(asked), func(s string) bool { return !strings.Contains(s, "slow") })
	if len(slow) != 1 || len(asked) != 2 {
		t.Errorf("questions: %q", asked)
	}
}

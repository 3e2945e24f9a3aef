package autoscaler

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/tree"
)

// read parses JSON. Integers become int64, as in stored objects.
func read(t *testing.T, text string) tree.Tree {
	t.Helper()
	var m tree.Tree
	must.Succeed(t, json.Unmarshal([]byte(text), &m))
	wholeNumbers(m)
	return m
}

func wholeNumbers(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		for name, member := range v {
			v[name] = wholeNumbers(member)
		}
	case []any:
		for i := range v {
			v[i] = wholeNumbers(v[i])
		}
	case float64:
		return int64(v)
	}
	return v
}

// ago returns one event for each pair of a replica count and an age in seconds.
func ago(pairs ...int64) (events []event) {
	for i := 0; i < len(pairs); i += 2 {
		events = append(events, event{pairs[i], now.Add(-seconds(pairs[i+1]))})
	}
	return events
}

func TestSizes(t *testing.T) {
	const percent, podsAnd = `{"type":"Percent","value":100,"periodSeconds":60}`, `{"type":"Pods","value":4,"periodSeconds":60},`
	behavior := func(up, down string) string {
		return `{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[` + podsAnd + percent + `]` + up + `},
			"scaleDown":{"stabilizationWindowSeconds":300,"selectPolicy":"Max","policies":[` + percent + `]` + down + `}}`
	}
	for _, c := range []struct {
		name              string
		behavior          string
		recommended       []event
		ups, downs        []event
		current, proposed int64
		want              int64
		able, limited     string
	}{
		{"nothing to do", "", nil, nil, nil, 5, 5, 5, "ReadyForNewScale", "DesiredWithinRange"},
		{"more", "", nil, nil, nil, 5, 8, 8, "ReadyForNewScale", "DesiredWithinRange"},
		{"it doubles at most", "", nil, nil, nil, 3, 9, 6, "ReadyForNewScale", "ScaleUpLimit"},
		{"or becomes 4", "", nil, nil, nil, 1, 9, 4, "ReadyForNewScale", "ScaleUpLimit"},
		{"the most there may be", "", nil, nil, nil, 15, 25, 20, "ReadyForNewScale", "TooManyReplicas"},
		{"the fewest there may be", "", nil, nil, nil, 5, 1, 2, "ReadyForNewScale", "TooFewReplicas"},
		{"fewer wait", "", ago(5, 200), nil, nil, 5, 3, 5, "ScaleDownStabilized", "DesiredWithinRange"},
		{"until the window is over", "", ago(5, 400), nil, nil, 5, 3, 3, "ReadyForNewScale", "DesiredWithinRange"},

		{"with a behavior", behavior("", ""), nil, nil, nil, 5, 8, 8, "ReadyForNewScale", "DesiredWithinRange"},
		{"the farthest policy", behavior("", ""), nil, nil, nil, 2, 9, 6, "ReadyForNewScale", "ScaleUpLimit"},
		{"the nearest policy", behavior(`,"selectPolicy":"Min"`, ""), nil, nil, nil, 2, 9, 4, "ReadyForNewScale", "ScaleUpLimit"},
		{"no growth", behavior(`,"selectPolicy":"Disabled"`, ""), nil, nil, nil, 2, 9, 2, "ReadyForNewScale", "ScaleUpLimit"},
		{"what came in the period counts", behavior("", ""), nil, ago(3, 30), nil, 5, 20, 6, "ReadyForNewScale", "ScaleUpLimit"},
		{"what came before it does not", behavior("", ""), nil, ago(3, 90), nil, 5, 20, 10, "ReadyForNewScale", "ScaleUpLimit"},
		{"growth has its window", behavior(`,"stabilizationWindowSeconds":100`, ""), ago(6, 50), nil, nil, 5, 9, 6, "ScaleUpStabilized", "DesiredWithinRange"},
		{"fewer, with a behavior", behavior("", `,"stabilizationWindowSeconds":0`), nil, nil, nil, 10, 3, 3, "ReadyForNewScale", "DesiredWithinRange"},
		{"fewer wait, with a behavior", behavior("", ""), ago(9, 50), nil, nil, 10, 3, 9, "ScaleDownStabilized", "DesiredWithinRange"},
		{"not so fast", behavior("", `,"stabilizationWindowSeconds":0,"policies":[{"type":"Percent","value":30,"periodSeconds":60}]`), nil, nil, nil, 10, 3, 7, "ReadyForNewScale", "ScaleDownLimit"},
		{"what went counts", behavior("", `,"stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":3,"periodSeconds":60}]`), nil, nil, ago(2, 10), 10, 3, 9, "ReadyForNewScale", "ScaleDownLimit"},
		{"nothing goes", behavior("", `,"stabilizationWindowSeconds":0,"selectPolicy":"Disabled"`), nil, nil, nil, 10, 3, 10, "ReadyForNewScale", "ScaleDownLimit"},
		{"the fewest, with a behavior", behavior("", `,"stabilizationWindowSeconds":0`), nil, nil, nil, 10, 1, 2, "ReadyForNewScale", "TooFewReplicas"},
	} {
		s := &sizing{
			history: &history{recommendations: c.recommended, ups: c.ups, downs: c.downs}, current: c.current, minimum: 2, max: 20, now: now,
			up: rules{}, down: rules{window: 5 * time.Minute},
		}
		if c.behavior != "" {
			b := read(t, c.behavior)
			s.hasBehavior, s.up, s.down = true, readRules(b.Object("scaleUp"), 0), readRules(b.Object("scaleDown"), 0)
		}
		v := s.decide(c.proposed)
		if v.replicas != c.want || v.stableReason != c.able || v.limitReason != c.limited || v.limited != (c.limited != "DesiredWithinRange") {
			t.Errorf("%s: %+v, want %d %s %s", c.name, v, c.want, c.able, c.limited)
		}
		if r := s.history.recommendations; r[len(r)-1] != (event{c.proposed, now}) {
			t.Errorf("%s: noted %v", c.name, r)
		}
	}
}

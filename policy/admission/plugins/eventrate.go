package plugins

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission"
)

// EventRateLimit returns the plugin that limits the rate of Events per server, namespace, user, or
// source and object. Otherwise components that fail in a loop would fill the store with Events.
// config must be valid.
func EventRateLimit(config tree.Tree, now func() time.Time) admission.Registration {
	p := &eventRateLimit{now: now}
	for _, l := range config.Objects("limits") {
		qps, _ := l.Int("qps")
		burst, _ := l.Int("burst")
		size, _ := l.Int("cacheSize")
		p.limits = append(p.limits, eventLimiter{l.String("type"), newBuckets(float64(qps), int(burst), int(size))})
	}
	return admission.Register("EventRateLimit", p)
}

type eventRateLimit struct {
	limits []eventLimiter
	now    func() time.Time
}

type eventLimiter struct {
	limitType string
	buckets   *buckets
}

// Handles reports whether the mutation must still be counted. A mutation counts once, even if it is
// computed several times before it is stored. Dry runs do not count.
func (p *eventRateLimit) Handles(a *request.Attributes) bool {
	return !a.DryRun() && !a.Mutation.Admission.Counted.Load()
}

// Validate takes a token from the bucket of each limit, and rejects the Event if a bucket is empty.
// It runs last, because tokens are not returned if the write fails later.
func (p *eventRateLimit) Validate(a *request.Attributes) error {
	var reached []string
	for _, l := range p.limits {
		key := eventKeys[l.limitType](a)
		text := fmt.Sprintf("limit reached on type %s for key %s", l.limitType, key)
		if !l.buckets.take(key, p.now()) && !slices.Contains(reached, text) {
			reached = append(reached, text)
		}
	}
	if len(reached) == 0 {
		a.Mutation.Admission.Counted.Store(true)
		return nil
	}
	why := strings.Join(reached, ", ")
	if len(reached) > 1 {
		why = "[" + why + "]"
	}
	return &meta.Status{Code: http.StatusTooManyRequests, Reason: meta.ReasonTooManyRequests, Message: "Too many requests: " + why}
}

var eventKeys = map[string]func(*request.Attributes) string{
	"Server":          func(*request.Attributes) string { return "" },
	"Namespace":       func(a *request.Attributes) string { return a.Key.Namespace },
	"User":            userKey,
	"SourceAndObject": func(a *request.Attributes) string { return sourceAndObjectKey(a.New) },
}

func userKey(a *request.Attributes) string {
	if a.User == nil {
		return ""
	}
	return a.User.Name
}

// sourceAndObjectKey joins the fields without separators, as Kubernetes does.
func sourceAndObjectKey(event tree.Tree) string {
	source, object := event.Object("source"), event.Object("involvedObject")
	return source.String("component") + source.String("host") + object.String("kind") + object.String("namespace") +
		object.String("name") + object.String("uid") + object.String("apiVersion")
}

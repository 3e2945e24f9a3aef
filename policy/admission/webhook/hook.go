package webhook

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A sort is the type of a webhook, spelled as in metrics.
type sort string

const (
	mutating   sort = "admit"
	validating sort = "validating"
)

type hook struct {
	sort          sort
	configuration string // name of the configuration
	name          string
	index         int // position among all hooks of the type
	criteria      *match.Criteria
	conditions    conditions
	address       webhookclient.Address
	timeout       time.Duration
	ignoresFaults bool   // failurePolicy is Ignore
	dryRuns       bool   // may be called for dry runs
	asksAgain     bool   // reinvocationPolicy is IfNeeded
	version       string // AdmissionReview version; "" if none is supported
	fault         error  // reason why the webhook cannot be called, or nil

	// caller is nil until the configuration takes effect.
	caller *caller
}

var reviewVersions = []string{"v1", "v1beta1"}

func (p *Plugin) parse(o *policy.Object) []*hook {
	var hooks []*hook
	for _, t := range o.Tree.Objects("webhooks") {
		if skip := p.options.Skip; skip == nil || !skip(t.Object("clientConfig")) {
			hooks = append(hooks, p.parseHook(o.Key.Name, t))
		}
	}
	return hooks
}

// parseHook compiles a webhook. An invalid webhook becomes a hook with a fault, because the
// failurePolicy still applies. parseHook picks the first supported version in
// admissionReviewVersions.
func (p *Plugin) parseHook(configuration string, t tree.Tree) *hook {
	h := &hook{
		sort: p.sort, configuration: configuration, name: t.String("name"), timeout: 10 * time.Second,
		ignoresFaults: t.String("failurePolicy") == "Ignore", asksAgain: t.String("reinvocationPolicy") == "IfNeeded",
		dryRuns: slices.Contains([]string{"None", "NoneOnDryRun"}, t.String("sideEffects")),
	}
	if seconds, ok := t.Int("timeoutSeconds"); ok {
		h.timeout = time.Duration(seconds) * time.Second
	}
	for _, version := range t.Strings("admissionReviewVersions") {
		if h.version == "" && slices.Contains(reviewVersions, version) {
			h.version = version
		}
	}
	h.conditions = p.compile(t.Objects("matchConditions"))
	if h.criteria, h.fault = match.ForWebhook(t, p.options.Served); h.fault != nil {
		h.criteria = new(match.Criteria)
	}
	h.criteria.Reviews = p.options.Reviews
	if address, err := webhookclient.ParseAddress(t.Object("clientConfig")); err != nil {
		h.fault = err
	} else {
		h.address = address
	}
	return h
}

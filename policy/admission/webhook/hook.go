package webhook

import (
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/match"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A sort is one of the two sorts of hooks: the name by which metrics know it.
type sort string

const (
	mutating   sort = "admit"
	validating sort = "validating"
)

// A hook is one webhook of a configuration. It is made from the stored object, whose fields validation has
// checked, with the defaults for those that are absent.
type hook struct {
	sort          sort
	configuration string // its name
	name          string
	index         int // among all hooks of the sort
	criteria      *match.Criteria
	conditions    conditions
	address       webhookclient.Address
	timeout       time.Duration
	ignoresFaults bool   // failurePolicy Ignore: what cannot be asked lets changes pass
	dryRuns       bool   // it may be asked about dry runs
	asksAgain     bool   // reinvocationPolicy IfNeeded
	version       string // of the AdmissionReview; "" if it wants none that is known here
	fault         error  // why it cannot be asked; nil if it can

	// caller is set when the hook is put into effect.
	caller *caller
}

// reviewVersions are the versions of the AdmissionReview that are known here.
var reviewVersions = []string{"v1", "v1beta1"}

// parse makes the hooks of a configuration.
func (p *Plugin) parse(o *policy.Object) []*hook {
	var hooks []*hook
	for _, t := range o.Tree.Objects("webhooks") {
		hooks = append(hooks, p.parseHook(o.Key.Name, t))
	}
	return hooks
}

// A fault does not drop the hook: whether requests may pass without it is for its failurePolicy to say. The
// first known version of the list is the one that the author prefers.
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
	if address, err := webhookclient.ParseAddress(t.Object("clientConfig")); err != nil {
		h.fault = err
	} else {
		h.address = address
	}
	return h
}

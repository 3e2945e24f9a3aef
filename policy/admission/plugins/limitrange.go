package plugins

import (
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

type limitRange struct {
	limits                         []limit
	defaultRequests, defaultLimits tree.Tree // of containers, by resource
}

type limit struct {
	of              string // Container, Pod or PersistentVolumeClaim
	min, max, ratio []bound
}

type bound struct {
	resource string
	amount   amount.Amount
	text     string // text of amount
}

func parseLimitRange(o *policy.Object) *limitRange {
	l := &limitRange{defaultRequests: tree.Tree{}, defaultLimits: tree.Tree{}}
	for _, item := range o.Tree.Object("spec").Objects("limits") {
		l.limits = append(l.limits, limit{
			of: item.String("type"), min: parseBounds(item.Object("min")), max: parseBounds(item.Object("max")),
			ratio: parseBounds(item.Object("maxLimitRequestRatio")),
		})
		if item.String("type") == "Container" {
			maps.Copy(l.defaultRequests, item.Object("defaultRequest"))
			maps.Copy(l.defaultLimits, item.Object("default"))
		}
	}
	return l
}

// parseBounds returns the quantities of t sorted by resource, so that messages are deterministic.
// Validation has already rejected malformed quantities.
func parseBounds(t tree.Tree) []bound {
	var bounds []bound
	for _, n := range amount.ListOf(t).Sorted() {
		bounds = append(bounds, bound{n.Name, n.Amount, t.String(n.Name)})
	}
	return bounds
}

// A demand holds the requests and limits of a container, Pod or claim. It distinguishes a missing
// amount from zero, because their error messages differ.
type demand struct{ requests, limits amount.List }

func demandOf(resources tree.Tree) demand {
	return demand{amount.ListOf(resources.Object("requests")), amount.ListOf(resources.Object("limits"))}
}

// checkPod returns the violations of a Pod. It skips ephemeral containers, which have no resources.
func (l *limitRange) checkPod(spec tree.Tree) (faults []string) {
	for i := range l.limits {
		switch limit := &l.limits[i]; limit.of {
		case "Container":
			for _, c := range containers(spec, "containers", "initContainers") {
				faults = append(faults, limit.check(demandOf(c.Object("resources")))...)
			}
		case "Pod":
			faults = append(faults, limit.check(demand{podAmounts(spec, "requests"), podAmounts(spec, "limits")})...)
		}
	}
	return faults
}

// checkClaim returns the violations of a claim. Claims have neither limits nor ratios.
func (l *limitRange) checkClaim(resources tree.Tree) (faults []string) {
	d := demand{requests: amount.ListOf(resources.Object("requests"))}
	for i := range l.limits {
		limit := &l.limits[i]
		if limit.of != "PersistentVolumeClaim" {
			continue
		}
		for _, b := range limit.min {
			faults = b.check(faults, "minimum", limit.of, requestOf(d), limitOf(d))
		}
		for _, b := range limit.max {
			faults = b.check(faults, "maximum", limit.of, requestOf(d))
		}
	}
	return faults
}

func (l *limit) check(d demand) (faults []string) {
	for _, b := range l.min {
		faults = b.check(faults, "minimum", l.of, requestOf(d), limitOf(d))
	}
	for _, b := range l.max {
		faults = b.check(faults, "maximum", l.of, limitOf(d), requestOf(d))
	}
	for _, b := range l.ratio {
		faults = b.ratioAtMost(faults, l.of, d)
	}
	return faults
}

// A usage is the requests or the limits of a container, Pod or claim, with the name for error
// messages.
type usage struct {
	name    string
	amounts amount.List
}

func requestOf(d demand) usage { return usage{"request", d.requests} }
func limitOf(d demand) usage   { return usage{"limit", d.limits} }

// check appends an error to faults if a usage violates a minimum or maximum. The first usage must
// specify the resource. Otherwise a container without a limit, for example, could use any amount.
// The double space in the message matches Kubernetes.
func (b *bound) check(faults []string, kind, of string, all ...usage) []string {
	rule := fmt.Sprintf("%s %s usage per %s is %s", kind, b.resource, of, b.text)
	beyond := map[string]int{"minimum": -1, "maximum": 1}[kind]
	for i, u := range all {
		value, set := u.amounts.Find(b.resource)
		switch {
		case i == 0 && !set:
			return append(faults, rule+".  No "+u.name+" is specified")
		case set && value.Cmp(b.amount) == beyond:
			return append(faults, rule+", but "+u.name+" is "+value.String())
		}
	}
	return faults
}

func (b *bound) ratioAtMost(faults []string, of string, d demand) []string {
	request, limit := d.requests.Get(b.resource), d.limits.Get(b.resource)
	rule := fmt.Sprintf("%s max limit to request ratio per %s is %s", b.resource, of, b.text)
	switch {
	case request.Sign() == 0:
		return append(faults, rule+", but no request is specified or request is 0")
	case limit.Sign() == 0:
		return append(faults, rule+", but no limit is specified or limit is 0")
	}
	if ratio := limit.Float() / request.Float(); ratio > b.amount.Float() {
		return append(faults, fmt.Sprintf("%s, but provided ratio is %f", rule, ratio))
	}
	return faults
}

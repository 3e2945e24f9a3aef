package plugins

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A limitRange is a parsed LimitRange.
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
	amount   quantity.Quantity
	text     string // of the amount
}

// Later items win; validation allows one for containers.
func parseLimitRange(o *policy.Object) *limitRange {
	l := &limitRange{defaultRequests: tree.Tree{}, defaultLimits: tree.Tree{}}
	for _, item := range o.Tree.Object("spec").Objects("limits") {
		l.limits = append(l.limits, limit{
			of: item.String("type"), min: parseBounds(item.Object("min")), max: parseBounds(item.Object("max")),
			ratio: parseBounds(item.Object("maxLimitRequestRatio")),
		})
		if item.String("type") == "Container" {
			for name, amount := range item.Object("defaultRequest") {
				l.defaultRequests[name] = amount
			}
			for name, amount := range item.Object("default") {
				l.defaultLimits[name] = amount
			}
		}
	}
	return l
}

// parseBounds returns the quantities of t sorted by resource, so that messages are deterministic.
// Validation has refused malformed quantities.
func parseBounds(t tree.Tree) []bound {
	var bounds []bound
	amounts := quantity.ReadAmounts(t)
	for _, name := range amounts.Names() {
		bounds = append(bounds, bound{name, amounts[name], t.String(name)})
	}
	return bounds
}

// A demand holds requested amounts. An absent resource differs from zero: it violates a minimum
// with another message.
type demand struct{ requests, limits quantity.Amounts }

func demandOf(resources tree.Tree) demand {
	return demand{quantity.ReadAmounts(resources.Object("requests")), quantity.ReadAmounts(resources.Object("limits"))}
}

// checkPod returns the violations of a Pod. Ephemeral containers have no resources.
func (l *limitRange) checkPod(spec tree.Tree) (faults []string) {
	for i := range l.limits {
		switch limit := &l.limits[i]; limit.of {
		case "Container":
			for _, list := range []string{"containers", "initContainers"} {
				eachContainer(spec, []string{list}, func(c tree.Tree, _ string, _ int) bool {
					faults = append(faults, limit.check(demandOf(c.Object("resources")))...)
					return true
				})
			}
		case "Pod":
			faults = append(faults, limit.check(podDemand(spec))...)
		}
	}
	return faults
}

// checkClaim returns the violations of a claim, which has neither limits nor ratios.
func (l *limitRange) checkClaim(resources tree.Tree) (faults []string) {
	d := demand{requests: quantity.ReadAmounts(resources.Object("requests"))}
	for i := range l.limits {
		limit := &l.limits[i]
		if limit.of != "PersistentVolumeClaim" {
			continue
		}
		for _, b := range limit.min {
			faults = b.atLeast(faults, limit.of, d)
		}
		for _, b := range limit.max {
			faults = b.requestAtMost(faults, limit.of, d)
		}
	}
	return faults
}

func (l *limit) check(d demand) (faults []string) {
	for _, b := range l.min {
		faults = b.atLeast(faults, l.of, d)
	}
	for _, b := range l.max {
		faults = b.atMost(faults, l.of, d)
	}
	for _, b := range l.ratio {
		faults = b.ratioAtMost(faults, l.of, d)
	}
	return faults
}

// The two spaces in these texts match Kubernetes, here and below.
func (b *bound) atLeast(faults []string, of string, d demand) []string {
	request, requested := d.requests[b.resource]
	limit, limited := d.limits[b.resource]
	rule := fmt.Sprintf("minimum %s usage per %s is %s", b.resource, of, b.text)
	switch {
	case !requested:
		return append(faults, rule+".  No request is specified")
	case request.Cmp(b.amount) < 0:
		return append(faults, rule+", but request is "+request.String())
	case limited && limit.Cmp(b.amount) < 0:
		return append(faults, rule+", but limit is "+limit.String())
	}
	return faults
}

func (b *bound) requestAtMost(faults []string, of string, d demand) []string {
	request, requested := d.requests[b.resource]
	rule := fmt.Sprintf("maximum %s usage per %s is %s", b.resource, of, b.text)
	switch {
	case !requested:
		return append(faults, rule+".  No request is specified")
	case request.Cmp(b.amount) > 0:
		return append(faults, rule+", but request is "+request.String())
	}
	return faults
}

// A missing limit violates a maximum, since the container could use any amount.
func (b *bound) atMost(faults []string, of string, d demand) []string {
	request, requested := d.requests[b.resource]
	limit, limited := d.limits[b.resource]
	rule := fmt.Sprintf("maximum %s usage per %s is %s", b.resource, of, b.text)
	switch {
	case !limited:
		return append(faults, rule+".  No limit is specified")
	case limit.Cmp(b.amount) > 0:
		return append(faults, rule+", but limit is "+limit.String())
	case requested && request.Cmp(b.amount) > 0:
		return append(faults, rule+", but request is "+request.String())
	}
	return faults
}

func (b *bound) ratioAtMost(faults []string, of string, d demand) []string {
	request, limit := d.requests[b.resource], d.limits[b.resource] // 0 if absent
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

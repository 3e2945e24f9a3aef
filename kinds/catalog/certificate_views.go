package catalog

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// writeApproval changes the conditions of a certificate request, and nothing else. What
// was decided stays decided.
func writeApproval(obj, body schema.Tree, now string, faults *schema.Faults) error {
	old := rules.Trees(rules.Sub(obj, "status"), "conditions")
	wanted := rules.Sub(body, "status")
	keepDecisions(old, rules.Trees(wanted, "conditions"), faults)
	if now, was := rules.Text(wanted, "certificate"), rules.Text(rules.Sub(obj, "status"), "certificate"); now != "" && now != was {
		faults.Forbidden("status.certificate", "updates may not set certificate content")
	}
	keepIssued(rules.Sub(obj, "status"), rules.Trees(wanted, "conditions"), faults)
	rules.Carry(rules.Grow(obj, "status"), wanted, "conditions")
	stampDecisions(obj, old, now)
	return nil
}

// writeCertificate is a write of the status: a signer hands in the certificate, or says
// that it cannot. It does not decide about the request.
func writeCertificate(obj, body schema.Tree, now string, faults *schema.Faults) error {
	status, wanted := rules.Grow(obj, "status"), rules.Clone(rules.Sub(body, "status")).(schema.Tree)
	old, conditions := rules.Trees(status, "conditions"), rules.Trees(wanted, "conditions")
	keepDecisions(old, conditions, faults)
	for _, kind := range []string{conditionApproved, conditionDenied} {
		switch was, now := ofType(old, kind), ofType(conditions, kind); {
		case now == nil:
		case was == nil:
			faults.Forbidden("status.conditions", fmt.Sprintf("updates may not add a condition of type %q", kind))
		default:
			// A client that knows fewer fields of what was decided changes none of them.
			clear(now)
			for name, value := range was {
				now[name] = value
			}
		}
	}
	switch was, now := rules.Text(status, "certificate"), rules.Text(wanted, "certificate"); {
	case was == now:
	case was != "":
		faults.Forbidden("status.certificate", "updates may not modify existing certificate content")
	case ofType(old, conditionApproved) == nil || ofType(old, conditionDenied) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that is not approved")
	case ofType(conditions, conditionFailed) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that has failed")
	}
	keepIssued(status, conditions, faults)
	rules.Carry(status, wanted, "conditions")
	stampDecisions(obj, old, now)
	rules.Carry(status, wanted, "certificate")
	return nil
}

// keepDecisions refuses to take back what was decided.
func keepDecisions(old, conditions []schema.Tree, faults *schema.Faults) {
	for _, kind := range []string{conditionApproved, conditionDenied, conditionFailed} {
		if ofType(old, kind) != nil && ofType(conditions, kind) == nil {
			faults.Forbidden("status.conditions", fmt.Sprintf("updates may not remove a condition of type %q", kind))
		}
	}
}

// keepIssued refuses to say of a request that it has failed when its certificate is there.
func keepIssued(old schema.Tree, conditions []schema.Tree, faults *schema.Faults) {
	if rules.Text(old, "certificate") != "" && ofType(rules.Trees(old, "conditions"), conditionFailed) == nil && ofType(conditions, conditionFailed) != nil {
		faults.Forbidden("status.conditions", fmt.Sprintf("updates may not add a condition of type %q to a request whose certificate is issued", conditionFailed))
	}
}

func ofType(conditions []schema.Tree, kind string) schema.Tree {
	for _, c := range conditions {
		if rules.Text(c, "type") == kind {
			return c
		}
	}
	return nil
}

// stampDecisions fills in the times of conditions that clients left out. One whose status
// stays as it was keeps the time of its last transition.
func stampDecisions(obj schema.Tree, before []schema.Tree, now string) {
	for _, c := range rules.Trees(rules.Sub(obj, "status"), "conditions") {
		if !rules.Has(c, "lastUpdateTime") {
			c["lastUpdateTime"] = now
		}
		if rules.Has(c, "lastTransitionTime") {
			continue
		}
		c["lastTransitionTime"] = now
		if was := ofType(before, rules.Text(c, "type")); rules.Has(was, "lastTransitionTime") && rules.Text(was, "status") == rules.Text(c, "status") {
			rules.Carry(c, was, "lastTransitionTime")
		}
	}
}

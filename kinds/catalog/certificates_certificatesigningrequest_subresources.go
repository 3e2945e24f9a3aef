package catalog

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// writeApproval changes the conditions of a certificate request, and nothing else. What
// was decided stays decided.
func writeApproval(obj, body schema.Tree, now string, faults *schema.Faults) error {
	old := rules.Trees(rules.Nested(obj, "status"), "conditions")
	wanted := rules.Nested(body, "status")
	validateApprovalKept(old, rules.Trees(wanted, "conditions"), faults)
	if now, was := rules.String(wanted, "certificate"), rules.String(rules.Nested(obj, "status"), "certificate"); now != "" && now != was {
		faults.Forbidden("status.certificate", "updates may not set certificate content")
	}
	validateIssuedNotFailed(rules.Nested(obj, "status"), rules.Trees(wanted, "conditions"), faults)
	rules.CopyField(rules.EnsureNested(obj, "status"), wanted, "conditions")
	setConditionTimes(obj, old, now)
	return nil
}

// writeCertificate is a write of the status: a signer hands in the certificate, or says
// that it cannot. It does not decide about the request.
func writeCertificate(obj, body schema.Tree, now string, faults *schema.Faults) error {
	status, wanted := rules.EnsureNested(obj, "status"), rules.Clone(rules.Nested(body, "status")).(schema.Tree)
	old, conditions := rules.Trees(status, "conditions"), rules.Trees(wanted, "conditions")
	validateApprovalKept(old, conditions, faults)
	for _, kind := range []string{conditionApproved, conditionDenied} {
		switch was, now := findCondition(old, kind), findCondition(conditions, kind); {
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
	switch was, now := rules.String(status, "certificate"), rules.String(wanted, "certificate"); {
	case was == now:
	case was != "":
		faults.Forbidden("status.certificate", "updates may not modify existing certificate content")
	case findCondition(old, conditionApproved) == nil || findCondition(old, conditionDenied) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that is not approved")
	case findCondition(conditions, conditionFailed) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that has failed")
	}
	validateIssuedNotFailed(status, conditions, faults)
	rules.CopyField(status, wanted, "conditions")
	setConditionTimes(obj, old, now)
	rules.CopyField(status, wanted, "certificate")
	return nil
}

// validateApprovalKept refuses to take back what was decided.
func validateApprovalKept(old, conditions []schema.Tree, faults *schema.Faults) {
	for _, kind := range []string{conditionApproved, conditionDenied, conditionFailed} {
		if findCondition(old, kind) != nil && findCondition(conditions, kind) == nil {
			faults.Forbidden("status.conditions", fmt.Sprintf("updates may not remove a condition of type %q", kind))
		}
	}
}

// validateIssuedNotFailed refuses to say of a request that it has failed when its certificate is there.
func validateIssuedNotFailed(old schema.Tree, conditions []schema.Tree, faults *schema.Faults) {
	if rules.String(old, "certificate") != "" && findCondition(rules.Trees(old, "conditions"), conditionFailed) == nil && findCondition(conditions, conditionFailed) != nil {
		faults.Forbidden("status.conditions", fmt.Sprintf("updates may not add a condition of type %q to a request whose certificate is issued", conditionFailed))
	}
}

func findCondition(conditions []schema.Tree, kind string) schema.Tree {
	for _, c := range conditions {
		if rules.String(c, "type") == kind {
			return c
		}
	}
	return nil
}

// setConditionTimes fills in the times of conditions that clients left out. One whose status
// stays as it was keeps the time of its last transition.
func setConditionTimes(obj schema.Tree, before []schema.Tree, now string) {
	for _, c := range rules.Trees(rules.Nested(obj, "status"), "conditions") {
		if !rules.Has(c, "lastUpdateTime") {
			c["lastUpdateTime"] = now
		}
		if rules.Has(c, "lastTransitionTime") {
			continue
		}
		c["lastTransitionTime"] = now
		if was := findCondition(before, rules.String(c, "type")); rules.Has(was, "lastTransitionTime") && rules.String(was, "status") == rules.String(c, "status") {
			rules.CopyField(c, was, "lastTransitionTime")
		}
	}
}

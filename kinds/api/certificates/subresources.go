package certificates

import (
	"fmt"
	"maps"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// writeApproval applies a write of the approval subresource, which separates the permission to
// approve from the permission to sign. It replaces only the conditions, and rejects the removal of
// a decision.
func writeApproval(obj, body tree.Tree, now string, faults *schema.Faults) error {
	old := obj.Object("status").Objects("conditions")
	wanted := body.Object("status")
	validateApprovalKept(old, wanted.Objects("conditions"), faults)
	if now, was := wanted.String("certificate"), obj.Object("status").String("certificate"); now != "" && now != was {
		faults.Forbidden("status.certificate", "updates may not set certificate content")
	}
	validateIssuedNotFailed(obj.Object("status"), wanted.Objects("conditions"), faults)
	obj.EnsureObject("status").CopyField(wanted, "conditions")
	setConditionTimes(obj, old, now)
	return nil
}

// writeCertificate applies a write of the status subresource, which signers use. It replaces the
// conditions and the certificate. A signer sets either the certificate or the condition Failed. It
// may not change the decision or an existing certificate, which may already be in use.
func writeCertificate(obj, body tree.Tree, now string, faults *schema.Faults) error {
	status, wanted := obj.EnsureObject("status"), tree.Clone(body.Object("status")).(tree.Tree)
	old, conditions := status.Objects("conditions"), wanted.Objects("conditions")
	validateApprovalKept(old, conditions, faults)
	for _, kind := range []string{conditionApproved, conditionDenied} {
		switch was, now := tree.ConditionIn(old, kind), tree.ConditionIn(conditions, kind); {
		case now == nil:
		case was == nil:
			faults.Forbidden("status.conditions", fmt.Sprintf("updates may not add a condition of type %q", kind))
		default:
			// Restore all fields, because the client may have dropped unknown ones.
			clear(now)
			maps.Copy(now, was)
		}
	}
	switch was, now := status.String("certificate"), wanted.String("certificate"); {
	case was == now:
	case was != "":
		faults.Forbidden("status.certificate", "updates may not modify existing certificate content")
	case tree.ConditionIn(old, conditionApproved) == nil || tree.ConditionIn(old, conditionDenied) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that is not approved")
	case tree.ConditionIn(conditions, conditionFailed) != nil:
		faults.Forbidden("status.certificate", "updates may not set the certificate of a request that has failed")
	}
	validateIssuedNotFailed(status, conditions, faults)
	status.CopyField(wanted, "conditions")
	setConditionTimes(obj, old, now)
	status.CopyField(wanted, "certificate")
	return nil
}

// validateApprovalKept rejects removing a decision, because controllers act on a decision only
// once.
func validateApprovalKept(old, conditions []tree.Tree, faults *schema.Faults) {
	for _, kind := range []string{conditionApproved, conditionDenied, conditionFailed} {
		if tree.ConditionIn(old, kind) != nil && tree.ConditionIn(conditions, kind) == nil {
			faults.Forbidden("status.conditions", fmt.Sprintf("updates may not remove a condition of type %q", kind))
		}
	}
}

func validateIssuedNotFailed(old tree.Tree, conditions []tree.Tree, faults *schema.Faults) {
	if old.String("certificate") != "" && tree.FindCondition(old, conditionFailed) == nil && tree.ConditionIn(conditions, conditionFailed) != nil {
		faults.Forbidden("status.conditions", fmt.Sprintf("updates may not add a condition of type %q to a request whose certificate is issued", conditionFailed))
	}
}

// setConditionTimes sets missing condition times to now. lastTransitionTime keeps its previous
// value if the condition's status is unchanged.
func setConditionTimes(obj tree.Tree, before []tree.Tree, now string) {
	for _, c := range obj.Object("status").Objects("conditions") {
		if !c.Has("lastUpdateTime") {
			c["lastUpdateTime"] = now
		}
		if c.Has("lastTransitionTime") {
			continue
		}
		c["lastTransitionTime"] = now
		if was := tree.ConditionIn(before, c.String("type")); was.Has("lastTransitionTime") && was.String("status") == c.String("status") {
			c.CopyField(was, "lastTransitionTime")
		}
	}
}
